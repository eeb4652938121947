#include <catch2/catch.hpp>

#include "codegen/sources/kernel_macros.h"
#include "codegen/sources/kernel_sources.h"

namespace tenon::codegen {
namespace {

// The names with `native::` before those without.
std::vector<std::string> definitions(std::string_view text) {
  std::vector<std::string> names;
  for (const bool qualified : {true, false}) {
    for (const KernelDefinition& one : find_definitions(text)) {
      if (one.qualified == qualified) names.push_back((qualified ? "native::" : "") + one.name);
    }
  }
  return names;
}

using Names = std::vector<std::string>;

TEST_CASE("definitions are found, calls are not", "[check]") {
  CHECK(definitions("void native::f(const Tensor& a) {\n  native::g(a);\n}") == Names{"native::f"});
  CHECK(definitions("std::array<Spec, 2> tenon::native::f(A (*g)(int), B) noexcept {}") ==
        Names{"native::f"});
  CHECK(definitions("auto native::f(A a) -> std::tuple<A, A> {}") == Names{"native::f"});
  CHECK(definitions("void native::f(A);") == Names{});
  CHECK(definitions("void h() { if (native::f(a)) { for (auto x : native::g(a)) {} } }") ==
        Names{"h"});
  CHECK(definitions("namespace native { void f(A) {} }") == Names{"f"});
}

TEST_CASE("comments, literals and preprocessor lines are skipped", "[check]") {
  CHECK(definitions("// void native::f() {}\n/* native::g() {} */ void native::h() {}") ==
        Names{"native::h"});
  CHECK(definitions("auto s = \"native::f() {}\"; auto t = R\"x(\" native::g() {} )x\";") ==
        Names{});
  CHECK(definitions("#define F \\\n  native::f() {}\nvoid native::g() {}") == Names{"native::g"});
  CHECK(definitions("void native::f(int n = 1'000'000, char c = '\"', char d = '\\'') {}") ==
        Names{"native::f"});
  CHECK(definitions("void native::f(const char* s = \")\") {}") == Names{"native::f"});
}

TEST_CASE("macros of the same text are expanded", "[check]") {
  const auto names = [](std::string_view text) {
    Names found;
    for (const KernelDefinition& one : find_macro_definitions(text)) {
      found.push_back((one.qualified ? "native::" : "") + one.name);
      CHECK(text.substr(one.offset, 6) == "KERNEL");
    }
    return found;
  };
  CHECK(
      names(
          "#define KERNEL(op, ...) \\\n  void native::op##_cpu(const Tensor& a) { f<(1, 2)>(a); }\n"
          "KERNEL(exp, 1)\nKERNEL( log, (2, 3) );\n") ==
      Names{"native::exp_cpu", "native::log_cpu"});
  CHECK(names("#define KERNEL(a, b) Tensor native::a ## _ ## b(A) {} void native::a(A) "
              "{}\nKERNEL(f, g)") == Names{"native::f_g", "native::f"});
  CHECK(names("#define KERNEL(a) native::a(1)\nvoid f() { KERNEL(g); }") == Names{});
  CHECK(names("#define KERNEL native::f() {}\nKERNEL\n") == Names{});
  for (const char* text :
       {"#define ", "#define KERNEL(", "#define KERNEL(a\\\n", "#define KERNEL(a) a##",
        "#define KERNEL(a) native::a(){}\nKERNEL(", "#define KERNEL()\nKERNEL()"}) {
    CAPTURE(text);
    CHECK(names(text).empty());
  }
}

TEST_CASE("a text that breaks off is read to its end", "[check]") {
  for (const char* text :
       {"", "native::f(", "\"", "R\"", "R\"x(", "/*", "'", "#define \\", "native::f() ->", "\\"}) {
    CAPTURE(text);
    CHECK(definitions(text).empty());
  }
}

}  // namespace
}  // namespace tenon::codegen

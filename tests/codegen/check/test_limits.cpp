// Texts that call one another in long chains: they are refused, or read, without recursion and in
// few steps.

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/check/check.h"
#include "codegen/load/loader.h"

namespace tenon::codegen {
namespace {

std::vector<std::string> messages_of(const std::string& native, const Model* base = nullptr) {
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(sink.sources().add("native.yaml", native));
  const Model model = load(sources, Dialect::kTenon, sink, base);
  run_checks(model, sink, base);
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : sink.sorted()) messages.push_back(diagnostic.message);
  return messages;
}

std::string name(size_t i) { return "d" + std::to_string(i); }

/// Definitions d0, d1, ..., each with the text that `body` makes of the name before it.
template <class Body>
std::string definitions(size_t count, const Body& body) {
  std::string text = "- define: d0(x)\n  as: x + 1\n";
  for (size_t i = 1; i < count; ++i)
    text += "- define: " + name(i) + "(x)\n  as: " + body(name(i - 1)) + "\n";
  return text;
}

std::string once(const std::string& f) { return f + "(x)"; }
std::string twice(const std::string& f) { return f + "(" + f + "(x))"; }

const std::string kCaller = "- func: f(Tensor self) -> Tensor\n  pointwise: ";

TEST_CASE("functions are inlined to a depth", "[check]") {
  const std::string chain = definitions(5000, once);
  CHECK(
      messages_of(chain + kCaller + "d4999(self)\n") ==
      std::vector<std::string>{"'d99' is nested too deeply: it calls 99 functions, one inside the "
                               "other"});
  CHECK(messages_of(definitions(100, once) + kCaller + "d98(self)\n").empty());
}

TEST_CASE("functions are inlined to a size", "[check]") {
  const auto said = messages_of(definitions(64, twice) + kCaller + "d63(self)\n");
  REQUIRE(said.size() == 1);
  CHECK(said[0].starts_with("the expression becomes too large by inlining 'd"));
  // Operators are inlined as definitions are.
  std::string operators = "- func: d0(Tensor x) -> Tensor\n  pointwise: x + 1\n";
  for (size_t i = 1; i < 64; ++i) {
    operators +=
        "- func: " + name(i) + "(Tensor x) -> Tensor\n  pointwise: " + twice(name(i - 1)) + "\n";
  }
  CHECK(messages_of(operators) == said);
  CHECK(messages_of(definitions(8, twice) + kCaller + "d7(self)\n").empty());
}

TEST_CASE("a chain of compositions has any length", "[check]") {
  std::string text;
  for (size_t i = 1; i < 1000; ++i) {
    text +=
        "- func: " + name(i) + "(Tensor self) -> Tensor\n  composite: " + name(i - 1) + "(self)\n";
  }
  CHECK(messages_of(text + "- func: d0(Tensor self) -> Tensor\n  pointwise: self + 1\n").empty());
  const auto circle =
      messages_of(text + "- func: d0(Tensor self) -> Tensor\n  composite: d2(self)\n");
  REQUIRE(circle.size() == 3);
  CHECK(circle[0] == "the composition leads back to itself: `d1` calls `d0` calls `d2` calls `d1`");
}

TEST_CASE("a definition takes no name of the library that is added to", "[check]") {
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(sink.sources().add("base.yaml", "- define: half(x)\n  as: x / 2\n"));
  const Model base = load(sources, Dialect::kTenon, sink);
  CHECK(messages_of("- define: half(x)\n  as: x * 0.5\n", &base) ==
        std::vector<std::string>{"`half` is a function of the library that this one adds to"});
}

}  // namespace
}  // namespace tenon::codegen

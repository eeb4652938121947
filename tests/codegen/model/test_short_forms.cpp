// What entries of Tenon's dialect leave unsaid: each means what the entry beside it says at length.

#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/format/shorten.h"
#include "codegen/load/loader.h"
#include "codegen/meaning/defaults.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen {
namespace {

struct Loaded {
  DiagnosticSink sink;
  Model model;
  explicit Loaded(const std::string& text, Dialect dialect = Dialect::kTenon) {
    Sources sources;
    sources.native = {sink.sources().add("f.yaml", text)};
    model = load(sources, dialect, sink);
  }
  std::string messages() const {
    std::ostringstream out;
    sink.print(out);
    return out.str();
  }
};

void check_same(const std::string& shorter, const std::string& longer) {
  const Loaded a(shorter), b(longer);
  INFO(shorter << "\n" << longer << "\n" << a.messages() << b.messages());
  CHECK(a.messages().empty());
  CHECK(b.messages().empty());
  CHECK(same_operators(a.model, b.model));
}

TEST_CASE("one entry for several operators", "[short_forms]") {
  check_same("- func: f.Tensor|Scalar(Tensor self, Tensor|Scalar other) -> Tensor\n"
             "  pointwise: self * other\n  check: \"|f_check\"\n  out_name: out|Scalar_out\n",
             "- func: f.Tensor(Tensor self, Tensor other) -> Tensor\n"
             "  pointwise: self * other\n  out_name: out\n"
             "- func: f.Scalar(Tensor self, Scalar other) -> Tensor\n"
             "  pointwise: self * other\n  check: f_check\n  out_name: Scalar_out\n");
  check_same("- func: ns::g.|Scalar|Scalar_Tensor(Tensor|Tensor|Scalar self, Tensor|Scalar|Tensor "
             "x) -> Tensor\n"
             "  composite: self * x | self\n",
             "- func: ns::g(Tensor self, Tensor x) -> Tensor\n  composite: self * x | self\n"
             "- func: ns::g.Scalar(Tensor self, Scalar x) -> Tensor\n  composite: self * x | self\n"
             "- func: ns::g.Scalar_Tensor(Scalar self, Tensor x) -> Tensor\n  composite: self * x "
             "| self\n");
  check_same(
      "- func: f.Tensor|Scalar(Tensor self, Tensor|Scalar x) -> Tensor\n  pointwise: self + x\n"
      "- alias: h.Tensor|Scalar(Tensor self, Tensor|Scalar x) -> Tensor\n"
      "  of: f.Tensor|f.Scalar\n",
      "- func: f.Tensor(Tensor self, Tensor x) -> Tensor\n  pointwise: self + x\n"
      "- func: f.Scalar(Tensor self, Scalar x) -> Tensor\n  pointwise: self + x\n"
      "- alias: h.Tensor(Tensor self, Tensor x) -> Tensor\n  of: f.Tensor\n"
      "- alias: h.Scalar(Tensor self, Scalar x) -> Tensor\n  of: f.Scalar\n");
  // Annotations have their own `|`, and so have texts.
  const Loaded annotated("- func: f(Tensor(a|b) self, str mode='x|y') -> Tensor(a|b)\n"
                         "  composite: implicit\n");
  CHECK(annotated.messages().empty());
  CHECK(annotated.model.operators().size() == 1);
}

TEST_CASE("a mistake in an alternative is at its place", "[short_forms]") {
  const Loaded loaded("- func: f.Tensor|Scalar(Tensor self, Tensor|Salar other) -> Tensor\n"
                      "  composite: implicit\n");
  CHECK(loaded.messages().starts_with(
      "f.yaml:1:45: error: unknown type `Salar`; did you mean 'Scalar'?\n"));
  CHECK(loaded.sink.num_errors() == 1);
}

TEST_CASE("tensor options", "[short_forms]") {
  const std::string rest = "Layout? layout=None, Device? device=None, bool? pin_memory=None";
  check_same("- func: f(SymInt[] size, *, Generator? generator, TensorOptions) -> Tensor\n"
             "  composite: explicit\n",
             "- func: f(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, " + rest +
                 ") -> Tensor\n  composite: explicit\n");
  check_same("- func: f(int n, *, TensorOptions(dtype=long), bool x=False) -> Tensor\n"
             "  composite: explicit\n",
             "- func: f(int n, *, ScalarType? dtype=long, " + rest +
                 ", bool x=False) -> Tensor\n  composite: explicit\n");
  const Loaded behind(
      "- func: f(int n, *, TensorOptions, itn x) -> Tensor\n  composite: explicit\n");
  CHECK(behind.messages().starts_with("f.yaml:1:36: error: unknown type `itn`"));
  // Of this name there is no type.
  CHECK_FALSE(
      Loaded("- func: f(TensorOptions x) -> Tensor\n  composite: explicit\n").messages().empty());
}

TEST_CASE("kernels that are called as their operator", "[short_forms]") {
  check_same("- func: f.x(Tensor self) -> Tensor\n  structured: CPU, CUDA\n  variants: function\n",
             "- func: f.x(Tensor self) -> Tensor\n  structured: True\n"
             "  dispatch: {CPU: f_x_cpu, CUDA: f_x_cuda}\n");
  check_same("- func: f_.x(Tensor(a!) self) -> Tensor(a!)\n  dispatch: CPU, PrivateUse1\n",
             "- func: f_.x(Tensor(a!) self) -> Tensor(a!)\n"
             "  dispatch: {CPU: f_x_cpu_, PrivateUse1: f_x_privateuse1_}\n");
  check_same("- func: f(Tensor self) -> Tensor\n  dispatch: [CPU, CompositeExplicit]\n"
             "  variants: function\n",
             "- func: f(Tensor self) -> Tensor\n  dispatch: {CPU: f_cpu, CompositeExplicit: f}\n");
  check_same(
      "- func: f_.x(Tensor(a!) self) -> Tensor(a!)\n  composite: explicit\n",
      "- func: f_.x(Tensor(a!) self) -> Tensor(a!)\n  dispatch: {CompositeExplicit: f_x_}\n");
}

TEST_CASE("dtypes of one expression", "[short_forms]") {
  check_same("- func: f(Tensor self) -> Tensor\n  pointwise: -self\n  dtypes: floating, integral\n",
             "- func: f(Tensor self) -> Tensor\n  pointwise:\n    floating: -self\n"
             "    integral: -self\n");
}

// Forms as letters: function, method, in place, out.
std::string forms(const std::string& entry, Dialect dialect = Dialect::kTenon) {
  const Loaded loaded(entry, dialect);
  INFO(loaded.messages());
  REQUIRE_FALSE(loaded.model.operators().empty());
  const VariantSet& set = loaded.model.operators()[0].variants;
  return std::string(set.function ? "f" : "") + (set.method ? "m" : "") + (set.inplace ? "i" : "") +
         (set.out ? "o" : "");
}

TEST_CASE("forms follow from the kind of entry", "[short_forms]") {
  const std::string unary = "(Tensor self) -> Tensor\n  ";
  CHECK(forms("- func: f" + unary + "pointwise: -self\n") == "fmio");
  CHECK(forms("- func: f" + unary + "structured: CPU\n") == "fmo");
  CHECK(forms("- func: f" + unary + "composite: -self\n") == "fm");
  CHECK(forms("- func: f" + unary + "composite: explicit\n") == "fm");
  CHECK(forms("- func: f" + unary + "dispatch: CPU, CUDA\n") == "fm");
  CHECK(forms("- func: f" + unary + "rowwise: self / sum(self)\n  over: -1\n") == "fm");
  CHECK(forms("- func: f(Tensor x) -> Tensor\n  pointwise: -x\n") == "fo");
  CHECK(forms("- func: f(Tensor x) -> Tensor\n  composite: -x\n") == "f");
  CHECK(forms("- func: f(Tensor self) -> (Tensor, Tensor)\n  structured: CPU\n") == "fmo");
  CHECK(forms("- func: f(Tensor(a) self) -> Tensor(a)\n  composite: explicit\n") == "fm");
  CHECK(forms("- func: f_(Tensor(a!) self) -> Tensor(a!)\n  composite: implicit\n") == "f");
  for (const char* name : {"_f", "f_backward", "mine::f"}) {
    CHECK(forms("- func: " + std::string(name) + unary + "pointwise: -self\n") == "f");
  }
  CHECK(forms("- func: f" + unary + "pointwise: -self\n  python_module: nn\n") == "fo");
  CHECK(forms("- func: special_f" + unary + "pointwise: -self\n") == "fo");
  // PyTorch's spelling means what it means there.
  CHECK(forms("- func: f" + unary + "dispatch: {CPU: f_cpu}\n") == "f");
  CHECK(forms("- func: f" + unary + "structured: True\n  dispatch: {CPU: f_cpu}\n") == "f");
  CHECK(forms("- func: f" + unary + "structured_delegate: g\n") == "f");
  CHECK(forms("- func: f(Tensor self) -> Tensor\n", Dialect::kUpstream) == "f");
}

TEST_CASE("a library upon another has no methods", "[short_forms]") {
  const Loaded base("- func: g(Tensor self) -> Tensor\n  pointwise: -self\n");
  DiagnosticSink sink;
  Sources sources;
  sources.native = {
      sink.sources().add("f", "- func: f(Tensor self) -> Tensor\n  pointwise: g(self)\n")};
  const Model model = load(sources, Dialect::kTenon, sink, &base.model);
  CHECK_FALSE(model.operators()[0].variants.method);
  CHECK(model.operators()[0].variants.inplace);
}

TEST_CASE("what has no gradient need not say so", "[short_forms]") {
  const auto without = [](const std::string& entry) {
    const Loaded loaded(entry);
    INFO(entry << loaded.messages());
    REQUIRE(loaded.model.operators().size() == 1);
    return loaded.model.operators()[0].non_differentiable;
  };
  CHECK(without("- func: f(int n) -> Tensor\n  composite: explicit\n"));
  CHECK(without("- func: f(Tensor self) -> bool\n  dispatch: CPU\n"));
  CHECK(without("- func: f(Tensor self, Tensor x) -> Tensor\n  pointwise: self < x || isnan(x)\n"));
  CHECK(without("- func: f(Tensor self, Tensor x) -> Tensor\n  pointwise: self & x\n"));
  CHECK(without("- func: f(Tensor self) -> Tensor\n  pointwise: -self\n  dtypes: integral\n"));
  CHECK_FALSE(without("- func: f(Tensor self) -> Tensor\n  pointwise: -self\n"));
  CHECK_FALSE(
      without("- func: f(Tensor self) -> Tensor\n  pointwise: self * self\n  dtypes: complex\n"));
  CHECK_FALSE(without("- func: f(Tensor self) -> Tensor\n  composite: explicit\n"));
  CHECK_FALSE(without("- func: f(int n) -> Tensor\n  composite: implicit\n"));
  CHECK_FALSE(
      without("- func: f(Tensor self) -> Tensor\n  pointwise: self > 0\n  promote: none\n"));
}

TEST_CASE("module and tag follow from the schema", "[short_forms]") {
  const Loaded loaded("- func: linalg_f(Tensor self) -> Tensor\n  composite: implicit\n"
                      "- func: linalgf(Tensor self, *, Generator? generator=None) -> Tensor\n"
                      "  composite: implicit\n"
                      "- func: dropout(Tensor self) -> Tensor\n  composite: implicit\n"
                      "- func: operand(Tensor self) -> Tensor\n  composite: implicit\n");
  const std::vector<Operator>& ops = loaded.model.operators();
  REQUIRE(ops.size() == 4);
  REQUIRE(ops[0].python_module);
  CHECK(ops[0].python_module->text == "linalg");
  CHECK_FALSE(ops[0].variants.method);
  CHECK_FALSE(ops[1].python_module);
  const std::vector<bool> random = {false, true, true, false};
  for (size_t i = 0; i < ops.size(); ++i) CHECK(ops[i].has_tag(kSeededTag) == random[i]);
}

}  // namespace
}  // namespace tenon::codegen

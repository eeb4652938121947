#include "codegen/load/loader.h"

#include <algorithm>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/schema/printer.h"
#include "tests/codegen/model/read_text.h"

namespace tenon::codegen {
namespace {

constexpr const char* kNative = R"(
- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  variants: function, method, inplace, out
  pointwise: self + alpha * other
  tags: [core, pointwise]
- func: mm(Tensor self, Tensor mat2) -> Tensor
  variants: function, method, out
  structured: True
  dispatch: {CPU: mm_cpu, CUDA: mm_cuda}
- func: linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor
  composite: implicit
  python_module: nn
- func: frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)
  variants: function, method, out
  out_name: Tensor_out
  pointwise:
    mantissa:
      floating: {cpu: m(self), cuda: m2(self)}
      integral, bool: self
    exponent: e(self)
  promote: float
- func: argmax(Tensor self, int dim=-1) -> Tensor
  dispatch:
    CPU, CUDA: argmax
    CompositeExplicitAutograd: ns::deep::argmax_any
  non_differentiable: True
)";

constexpr const char* kDerivatives = R"(
- name: mm
  self: mm(grad, mat2.t())
  mat2: >
    mm(self.t(),
       grad)
  result: auto_linear
- name: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor
  self, other: add_backward(grad, alpha, grad_input_mask)
  result: self_t + alpha * other_t
)";

TEST_CASE("entries of our dialect", "[model]") {
  const Read read = read_text(kNative, kDerivatives, Dialect::kTenon, false);
  CHECK(read.messages == "");
  const Model& model = read.model;
  REQUIRE(model.operators().size() == 5);

  const Operator& add = model.operators()[0];
  CHECK(add.name() == "add.Tensor");
  CHECK(add.location.to_string() == "native.yaml:2:3");
  CHECK(add.at(add.schema.args[1].name_span).to_string() == "native.yaml:2:40");
  CHECK((add.variants.function && add.variants.method && add.variants.inplace && add.variants.out));
  REQUIRE(add.as<Pointwise>());
  CHECK(add.as<Pointwise>()->find("result", "floating", "cpu")->expression.text ==
        "self + alpha * other");
  CHECK(add.as<Pointwise>()->find("result", "", "")->expression.at(7).to_string() ==
        "native.yaml:4:21");
  CHECK(add.has_tag("core"));
  CHECK(add.has_key("pointwise"));
  CHECK_FALSE(add.has_key("dispatch"));

  const Operator& mm = model.operators()[1];
  CHECK(mm.is<Structured>());
  REQUIRE(mm.find_dispatch("CUDA"));
  CHECK(mm.find_dispatch("CUDA")->kernel == "mm_cuda");
  CHECK(mm.find_dispatch("CUDA")->kernel_location.to_string() == "native.yaml:9:33");
  CHECK(mm.find_dispatch("Meta") == nullptr);

  REQUIRE(model.operators()[2].is<CompositeFunction>());
  CHECK(model.operators()[2].as<CompositeFunction>()->implicit);
  CHECK(model.operators()[2].python_module->text == "nn");
  CHECK_FALSE(model.operators()[2].variants.method);

  const Pointwise& frexp = *model.operators()[3].as<Pointwise>();
  CHECK(frexp.cases.size() == 5);
  CHECK(frexp.find("mantissa", "floating", "cuda")->expression.text == "m2(self)");
  CHECK(frexp.find("mantissa", "bool", "cuda")->expression.text == "self");
  CHECK(frexp.find("exponent", "floating", "cpu")->expression.text == "e(self)");
  CHECK(frexp.find("mantissa", "complex", "cpu") == nullptr);
  CHECK(model.operators()[3].promotion == Promotion::kFloat);

  const Operator& argmax = model.operators()[4];
  CHECK(argmax.non_differentiable);
  CHECK(argmax.dispatch.size() == 3);
  CHECK(argmax.find_dispatch("CompositeExplicit")->kernel == "argmax_any");
  CHECK(argmax.find_dispatch("CompositeExplicit")->kernel_namespace == "ns::deep");
}

TEST_CASE("derivatives are bound to operators", "[model]") {
  const Read read = read_text(kNative, kDerivatives, Dialect::kTenon, false);
  const Model& model = read.model;
  REQUIRE(model.derivatives().size() == 2);
  const Derivative* mm = model.derivative_of(1);
  REQUIRE(mm != nullptr);
  REQUIRE(mm->default_set() != nullptr);
  const FormulaSet& formulas = *mm->default_set();
  CHECK(formulas.find_backward("self")->text.text == "mm(grad, mat2.t())");
  CHECK(formulas.find_backward("self")->text.at(9).to_string() == "derivatives.yaml:3:18");
  CHECK(formulas.find_backward("result") == nullptr);
  REQUIRE(formulas.forward.size() == 1);
  CHECK(formulas.forward[0].kind == FormulaKind::kAutoLinear);

  const Formula* joint = model.derivative_of(0)->default_set()->find_backward("other");
  REQUIRE(joint != nullptr);
  CHECK(joint->names.size() == 2);
  CHECK(joint->names[1].location.to_string() == "derivatives.yaml:9:9");
  CHECK(model.derivative_of(2) == nullptr);
}

TEST_CASE("an in-place entry differentiates as its functional form", "[model]") {
  const Read read = read_text("- func: f(Tensor self, int n) -> Tensor\n"
                              "  dispatch: {CPU: f_cpu}\n"
                              "- func: f_(Tensor(a!) self, int n) -> Tensor(a!)\n"
                              "  dispatch: {CPU: f_cpu_}\n",
                              "- name: f\n  self: grad * n\n");
  CHECK(read.messages == "");
  CHECK(read.model.derivative_of(1) == read.model.derivative_of(0));
}

TEST_CASE("names lead to entries and to derived forms", "[model]") {
  const Read read = read_text(kNative, kDerivatives, Dialect::kTenon, false);
  const Model& model = read.model;
  REQUIRE(model.find("add_.Tensor") != nullptr);
  CHECK(model.find("add_.Tensor")->op == 0);
  CHECK(model.variants(0)[model.find("add.Tensor_out")->variant].kind == schema::SchemaKind::kOut);
  CHECK(model.find("mm.out") != nullptr);
  CHECK(model.find("add") == nullptr);
  REQUIRE(model.groups().size() == 5);
  CHECK(model.groups()[0].base_name == "add");
}

std::vector<std::string> variants_of(const std::string& entry) {
  const Read read = read_text(entry);
  std::vector<std::string> result;
  for (const VariantSchema& variant : read.model.variants(0)) {
    result.push_back(schema::to_string(variant.schema));
  }
  return result;
}

TEST_CASE("derived forms", "[model]") {
  using Lines = std::vector<std::string>;
  CHECK(variants_of("- func: add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor\n"
                    "  variants: function, inplace, out\n") ==
        Lines{"add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
              "add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
              "add.Tensor_out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> "
              "Tensor(a!)"});
  CHECK(variants_of("- func: sort(Tensor self) -> (Tensor values, Tensor indices)\n"
                    "  variants: function, out\n  out_name: values\n") ==
        Lines{"sort(Tensor self) -> (Tensor values, Tensor indices)",
              "sort.values(Tensor self, *, Tensor(a!) values, Tensor(b!) indices) -> "
              "(Tensor(a!) values, Tensor(b!) indices)"});
  CHECK(variants_of("- func: pair(Tensor self) -> (Tensor, Tensor)\n  variants: out\n")[1] ==
        "pair.out(Tensor self, *, Tensor(a!) out0, Tensor(b!) out1) -> (Tensor(a!), Tensor(b!))");
  CHECK(variants_of("- func: parts(Tensor self) -> Tensor[]\n  variants: out\n")[1] ==
        "parts.out(Tensor self, *, Tensor(a!)[] out) -> ()");
  CHECK(variants_of("- func: __and__(Tensor self, Tensor other) -> Tensor\n"
                    "  variants: inplace\n")[1] ==
        "__iand__(Tensor(a!) self, Tensor other) -> Tensor(a!)");
  CHECK(variants_of("- func: _foreach_neg(Tensor[] self) -> Tensor[]\n  variants: inplace\n")[1] ==
        "_foreach_neg_(Tensor(a!)[] self) -> ()");
}

TEST_CASE("line breaks of any kind give the same model and the same places", "[model]") {
  std::string crlf, cr;
  for (const char c : std::string(kNative)) {
    crlf += c == '\n' ? "\r\n" : std::string(1, c);
    cr += c == '\n' ? '\r' : c;
  }
  const Read plain = read_text(kNative, kDerivatives, Dialect::kTenon, false);
  for (const std::string& text : {crlf, cr, "\xEF\xBB\xBF" + crlf}) {
    const Read other = read_text(text, kDerivatives, Dialect::kTenon, false);
    CHECK(other.messages == "");
    REQUIRE(other.model.operators().size() == plain.model.operators().size());
    for (size_t i = 0; i < plain.model.operators().size(); ++i) {
      const Operator& a = plain.model.operators()[i];
      const Operator& b = other.model.operators()[i];
      CHECK(schema::to_string(a.schema) == schema::to_string(b.schema));
      CHECK(a.at(a.schema.returns_span).to_string() == b.at(b.schema.returns_span).to_string());
    }
  }
}

TEST_CASE("the place of every byte of a scalar is known", "[model]") {
  // Each text holds ZZ where the schema's unknown type must be found.
  const std::string texts[] = {
      "- func: f(Tensor self, ZZ x) -> Tensor\n",
      "- func:    f(Tensor self,\n      ZZ x) -> Tensor\n",
      "- func: 'f(str a=''b'', ZZ x) -> Tensor'\n",
      "- func: \"f(str a=\\\"\\u00e9\\x41\\t\\\", ZZ x) -> Tensor\"\n",
      "- func: \"f(str a='b', \\\n    ZZ x) -> Tensor\"\n",
      "- func: |\n    f(Tensor self,\n\n      ZZ x) -> Tensor\n",
      "- func: >2-\n\n    f(Tensor self,\n    ZZ x) -> Tensor\n",
      "- func: &anchor !!str f(Tensor self, ZZ x) -> Tensor\n",
      "- {func: \"f(Tensor self, ZZ x) -> Tensor\"}\n",
      "- ? func\n  : f(str a='\xC3\xA9', ZZ x) -> Tensor\n",
  };
  for (const std::string& text : texts) {
    const size_t at = text.find("ZZ");
    const std::string lines = text.substr(0, at);
    const auto line = std::count(lines.begin(), lines.end(), '\n') + 1;
    const size_t before = text.rfind('\n', at);
    const size_t column = before == std::string::npos ? at + 1 : at - before;
    const std::string wanted = "native.yaml:" + std::to_string(line) + ":" +
                               std::to_string(column) + ": error: unknown type `ZZ`";
    CAPTURE(text);
    CHECK(read_text(text).messages.substr(0, wanted.size()) == wanted);
  }
}

TEST_CASE("a file that cannot be read is one error and no cascade", "[model]") {
  DiagnosticSink sink;
  const Model model = load({"/nonexistent/native_functions.yaml"}, {}, {}, Dialect::kTenon, sink);
  run_checks(model, sink);
  CHECK(sink.num_errors() == 1);
  CHECK_FALSE(model.complete());
}

TEST_CASE("an operator that does the work of another speaks for it", "[model]") {
  const Read read =
      read_text("- func: _total.each(Tensor self) -> Tensor\n  pointwise: self\n"
                "- func: _lone(Tensor self) -> Tensor\n  pointwise: self\n"
                "- func: mine::_lone(Tensor self) -> Tensor\n  pointwise: self\n"
                "- func: total.int(Tensor self, int n) -> Tensor\n  composite: _total(self)\n"
                "- func: mine::lone(Tensor self) -> Tensor\n  composite: mine::_lone(self)\n",
                "", Dialect::kTenon, false);
  std::vector<std::string> names;
  for (const Operator& op : read.model.operators()) names.push_back(op.error_name());
  CHECK(names ==
        std::vector<std::string>{"total", "_lone", "mine::lone", "total.int", "mine::lone"});
}

// tests/codegen/bad/README.md says what torchgen rejects and this reads.
TEST_CASE("spellings that are accepted on purpose", "[model]") {
  const Read read = read_text("- func: f( Tensor self,\r\n      int[2] n=[1, 2] ) -> (Tensor)\r\n"
                              "  variants: function,method\r\n  dispatch:\r\n    CPU,CUDA: f\r\n",
                              "- name: f\n  self: grad\n", Dialect::kUpstream);
  CHECK(read.messages == "");
  REQUIRE(read.model.operators().size() == 1);
  const Operator& op = read.model.operators()[0];
  CHECK(schema::to_string(op.schema) == "f(Tensor self, int[2] n=[1,2]) -> Tensor");
  CHECK((op.variants.function && op.variants.method));
  CHECK(op.find_dispatch("CUDA") != nullptr);
  REQUIRE(read.model.derivatives().size() == 1);
  CHECK(read.model.derivatives()[0].target == 0);
}

}  // namespace
}  // namespace tenon::codegen

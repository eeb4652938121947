// Calls in formulas that the C++ compiler would reject are found at generation, and what it accepts
// passes.

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "codegen/check/calls.h"
#include "tests/codegen/model/read_text.h"

namespace tenon::codegen {
namespace {

const std::string kOperators = R"y(
- func: f(Tensor self, Tensor? weight, int dim, float p, bool keep, Scalar alpha, int[] shape, Tensor[] list) -> Tensor
  dispatch: {CPU: f_cpu}
- func: mm(Tensor self, Tensor mat2) -> Tensor
  variants: function, method
  composite: implicit
- func: twice(Tensor self) -> Tensor
  variants: function
  composite: implicit
- func: total(Tensor self) -> Tensor
  variants: method
  composite: implicit
- func: sum(Tensor self, *, ScalarType? dtype=None) -> Tensor
  variants: function, method
  composite: implicit
- func: sum.dim(Tensor self, int[1]? dim, bool keepdim=False) -> Tensor
  variants: function, method
  composite: implicit
- func: pair(Tensor self) -> (Tensor, Tensor)
  composite: implicit
- func: clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor
  variants: function, method, inplace, out
  composite: explicit
  non_differentiable: True
- func: make(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor
  composite: implicit
)y";

/// Columns, messages and suggestions.
std::string said(const DiagnosticSink& sink) {
  std::string text;
  for (const Diagnostic& d : sink.sorted()) {
    text += std::to_string(d.location.column) + ": " + d.message;
    if (!d.suggestion.empty()) text += "; did you mean '" + d.suggestion + "'?";
    text += "\n";
  }
  return text;
}

// What is said about `self: formula`, without place and source.
std::string diagnose(const std::string& formula, const std::string& forward = {}) {
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(sink.sources().add("native.yaml", kOperators));
  std::string text = "- name: f\n  self: \"" + formula + "\"\n  weight, list: non_differentiable\n";
  if (!forward.empty()) text += "  result: " + forward + "\n";
  sources.derivatives.push_back(sink.sources().add("derivatives.yaml", text));
  const Model model = load(sources, Dialect::kTenon, sink);
  run_checks(model, sink);
  REQUIRE(model.derivatives().size() == 1);
  return said(sink);
}

TEST_CASE("calls that exist pass", "[check][calls]") {
  for (const char* formula : {"grad.mm(self)",
                              "mm(grad, self.mm(self))",
                              "tenon::mm(grad, self)",
                              "twice(grad).total()",
                              "grad.twice().total()",
                              "grad.sum(dim, true)",
                              "grad.sum({0, 1})",
                              "sum(grad, dim)",
                              "grad.sum(self.scalar_type())",
                              "sum(grad, kFloat)",
                              "make(self.sizes(), self.options()) * grad",
                              "make({1, 2}, kLong)",
                              "make(shape)",
                              "grad.clip(0, p)",
                              "grad.clip(alpha)",
                              "clip(grad, {}, 1.5)",
                              "mm(grad, Tensor())",
                              "keep ? grad.mm(self) : twice(grad)",
                              "std::get<0>(pair(grad)).mm(self)",
                              "mm(std::get<1>(pair(grad)), self)",
                              "grad * std::min(p, 2.0)",
                              "grad.sum(dim) * (dim / 2)",
                              "not_implemented(\\\"f: self\\\")",
                              "weight->sizes().size() > 1 ? grad : grad"}) {
    CAPTURE(formula);
    CHECK(diagnose(formula) == "");
  }
}

TEST_CASE("calls that cannot be are reported at their place", "[check][calls]") {
  CHECK(diagnose("grad.mmm(self)") == "15: Tensor has no method `mmm`; did you mean 'mm'?\n");
  CHECK(diagnose("mmm(grad, self)") == "10: unknown function 'mmm'; did you mean 'mm'?\n");
  CHECK(diagnose("grad.make()") == "15: Tensor has no method `make`; `make` is a function\n");
  CHECK(diagnose("total(grad)") == "10: unknown function 'total'; `total` is a method of Tensor\n");
  // A function after a dot, whose place is its name's.
  CHECK(diagnose("grad.twice(self)") == "15: `twice` does not take (Tensor, Tensor)\n");
  CHECK(diagnose("mm(grad)") == "10: `mm` does not take (Tensor)\n");
  CHECK(diagnose("grad.mm(self, self)") == "15: `mm` does not take (Tensor, Tensor)\n");
  CHECK(diagnose("mm(grad, weight)") == "10: `mm` does not take (Tensor, Tensor?)\n");
  CHECK(diagnose("mm(grad, 2.5)") == "10: `mm` does not take (Tensor, float)\n");
  CHECK(diagnose("grad.sum(self)") == "15: `sum` has no form that takes (Tensor)\n");
  CHECK(diagnose("grad.sum(dim, 'c')") ==
        "15: `sum` has no form that takes (int, str)\n"
        "24: a text needs double quotes; did you mean '\"c\"'?\n");
  CHECK(diagnose("grad.sum(p)") == "15: `sum` has no form that takes (float)\n");
  CHECK(diagnose("grad * mm(twice(self), self.numel())") ==
        "17: `mm` does not take (Tensor, int)\n");
  CHECK(diagnose("grad.sum(dim).mmm()") == "24: Tensor has no method `mmm`; did you mean 'mm'?\n");
  CHECK(diagnose("make(self.options())") == "10: `make` does not take (TensorOptions)\n");
  CHECK(diagnose("at::twice(grad)") ==
        "10: names in expressions have no module; did you mean 'twice'?\n");
  CHECK(diagnose("split_backward(grads, dim)") ==
        "10: `split_backward` takes 5 arguments, got 2\n");
  CHECK(diagnose("list.size() > 0 ? mmm(grad) : grad.mmmm()") ==
        "28: unknown function 'mmm'; did you mean 'mm'?\n"
        "45: Tensor has no method `mmmm`\n");
  CHECK(diagnose("grad.numel()") == "10: this must give a Tensor, got int\n");
  CHECK(diagnose("0") == "10: this must give a Tensor, got int\n");
  CHECK(diagnose("keep ? 1.5 : 2.5") == "10: this must give a Tensor, got float\n");
  CHECK(diagnose("weight.defined() ? grad : grad") ==
        "17: `Tensor?` has no method `defined`; `->` calls those of its value\n");
  CHECK(diagnose("grad.exp") ==
        "15: `exp` is not called: formulas see no other members of a Tensor\n");
  CHECK(diagnose("grad->mm(self)") == "16: `->` is for optional values, got a Tensor\n");
  CHECK(diagnose("twice(*grad)") == "16: `*` does not take a Tensor\n");
  CHECK(diagnose("grad ? grad : self") ==
        "10: a condition must be a bool, got Tensor; did you mean 'where(grad, grad, self)'?\n");
  CHECK(diagnose("weight.has_value() ? grad : grad") == "");
  CHECK(diagnose("self.shape[0] > 1 ? grad : twice(grad)") ==
        "15: `shape` is not called: formulas see no other members of a Tensor; did you mean "
        "'sizes()'?\n");
  CHECK(diagnose("twice(grad) * self.sizes()") == "22: `*` does not take (Tensor, int[])\n");
  CHECK(diagnose("twice(grad) * weight") == "22: `*` does not take (Tensor, Tensor?)\n");
  CHECK(diagnose("not_implemented(self)") ==
        "10: `not_implemented` takes a text in quotes, got Tensor\n");
  CHECK(diagnose("some::library(grad)") ==
        "10: no operator has the namespace `some`, and formulas see nothing else of it\n");
  CHECK(diagnose("tenon::twise(grad)") ==
        "17: `tenon` has no operator `twise`; did you mean 'twice'?\n");
  // `/` is true division, so what it gives is no int.
  CHECK(diagnose("grad.sum(dim / 2)") == "15: `sum` has no form that takes (float)\n");
  CHECK(diagnose("grad", "self_t.mm(self_p) + mm(self_t, alpha)") ==
        "31: `mm` does not take (Tensor, Scalar)\n");
  CHECK(diagnose("pair(grad).mm(self)") ==
        "21: (Tensor, Tensor) has no method `mm`; `std::get<0>(pair(grad))` is its first\n");
  CHECK(diagnose("pair(grad)") == "10: this must give a Tensor, got (Tensor, Tensor); did you mean "
                                  "'std::get<0>(pair(grad))'?\n");
  CHECK(diagnose("std::min(grad, self)") == "10: `std::min` does not take (Tensor, Tensor)\n");
  CHECK(diagnose("weight ?? grad") == "17: only compositions have `??`\n");
}

// In a composition of these operators; `-> Tensor` is what it must give.
std::string diagnose_composition(const std::string& text) {
  const Read read = read_text(kOperators +
                                  "- func: g(Tensor self, int n, float p, bool? keep=None, "
                                  "int? dim=None, int[] shape=[]) -> Tensor\n"
                                  "  composite: \"" +
                                  text + "\"\n",
                              "- name: f\n  self, weight, list: non_differentiable\n");
  DiagnosticSink sink;
  run_checks(read.model, sink);
  return said(sink);
}

TEST_CASE("operations have the types that C++ has for them", "[check][calls]") {
  CHECK(diagnose_composition("self.sum(n << 1)").empty());
  CHECK(diagnose_composition("self.sum(n * 2 % 3 - (n > 1 ? n : 1))").empty());
  CHECK(diagnose_composition("self.sum(dim ?? n)").empty());
  CHECK(diagnose_composition("self.sum(dim ? dim + 1 : 0)").empty());
  CHECK(diagnose_composition("self.sum(shape[0])").empty());
  CHECK(diagnose_composition("self.sum({0, n, shape[1]}, keep ?? false)").empty());
  CHECK(diagnose_composition("self * std::sqrt(n) + std::max<int64_t>(n, 1) * inf").empty());
  CHECK(diagnose_composition("(keep ?? true) && n > 1 ? self : twice(self)").empty());
  CHECK(diagnose_composition("self.clip(0).clip_(n)").empty());
  CHECK(diagnose_composition("self.sum(n * p)") == "20: `sum` has no form that takes (float)\n");
}

std::string read(const std::string& path) {
  std::ifstream in(std::string(TENON_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << in.rdbuf();
  return std::regex_replace(text.str(), std::regex("//[^\n]*"), "");
}

// The declaration `name(parameters)`, with the number of parameters.
std::set<std::pair<std::string, size_t>> declared_functions(const std::string& text) {
  std::set<std::pair<std::string, size_t>> found;
  static const std::regex kFunction(R"(TENON_API\s+[\w:<>\s&]*?\b(\w+)\(([^()]*)\);)");
  for (std::sregex_iterator it(text.begin(), text.end(), kFunction), end; it != end; ++it) {
    const std::string parameters = (*it)[2];
    size_t count = parameters.empty() ? 0 : 1, depth = 0;
    for (const char c : parameters) {
      depth += c == '<' ? 1u : 0u;
      depth -= c == '>' ? 1u : 0u;
      count += c == ',' && depth == 0 ? 1u : 0u;
    }
    found.insert({(*it)[1], count});
  }
  return found;
}

TEST_CASE("the tables of functions and methods are those of the headers", "[check][calls]") {
  const auto formulas = declared_functions(read("autograd/generated_support/formulas.h"));
  CHECK(formulas.size() == 7);
  std::set<std::pair<std::string, size_t>> table;
  for (const FormulaFunction& function : formula_functions()) {
    table.insert({function.name, function.num_arguments});
  }
  const auto support = declared_functions(read("autograd/generated_support/generated_support.h"));
  for (const auto& function : formulas) {
    CAPTURE(function.first);
    CHECK(table.contains(function));
  }
  for (const auto& function : table) {
    CAPTURE(function.first);
    CHECK((formulas.contains(function) || support.contains(function)));
  }

  // Every method that a header declares is in the table: none is called unknown.
  static const std::regex kMethod(R"(\n  (?:[\w:]+(?:<[\w:<>&]*>)?[&*]? )+(\w+)\()");
  std::set<std::string> declared;
  std::string base = read("aten/core/tensor_base.h");
  base = base.substr(0, std::min(base.find("private:"), base.find("protected:")));
  std::string derived = read("codegen/templates/tensor.h.j2");
  derived = derived.substr(0, derived.find("\n};"));
  for (const std::string& text : {base, derived}) {
    for (std::sregex_iterator it(text.begin(), text.end(), kMethod), end; it != end; ++it) {
      declared.insert((*it)[1]);
    }
  }
  for (const char* constructor : {"Tensor", "TensorBase"}) declared.erase(constructor);
  // Of these a formula means the operator.
  for (const char* of_brackets : {"index", "index_put_", "view"}) declared.erase(of_brackets);
  const std::set<std::string> table_of_methods(tensor_methods().begin(), tensor_methods().end());
  CHECK(declared == table_of_methods);
}

}  // namespace
}  // namespace tenon::codegen

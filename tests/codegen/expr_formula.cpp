#include "codegen/expr/formulas/formula.h"
#include "codegen/expr/formulas/formula_names.h"
#include "codegen/expr/formulas/formula_pointwise.h"

#include "codegen/expr/graph/differentiate.h"
#include "codegen/expr/graph/print_readable.h"

#include "tests/codegen/upstream.h"

#include <catch2/catch.hpp>
#include <yaml-cpp/yaml.h>

#include <random>

#include "tests/codegen/library_functions.h"

using tenon::codegen::library_functions;
using namespace tenon::codegen::expr;

namespace {

using Texts = std::vector<std::string>;

Formula formula(const std::string& text) {
  const FormulaResult result = parse_formula(text);
  INFO(text);
  REQUIRE(result.ok());
  return result.formula;
}

std::string round_trip(const std::string& text) { return print_formula(formula(text)); }

ExprError error_of(const std::string& text) {
  const FormulaResult result = parse_formula(text);
  INFO(text);
  REQUIRE(result.errors.size() == 1);
  return result.errors[0];
}

const Texts kSavable = {"self", "other", "mat2", "bias", "tensors", "dim", "result"};

SavedAnalysis saved(const std::string& text) {
  return analyze_saved(formula(text), kSavable, {"dim"});
}

Texts variables(const SavedAnalysis& analysis) {
  Texts names;
  for (const SavedValue& value : analysis.saved) names.push_back(value.variable);
  return names;
}

std::string pointwise(const std::string& text) {
  const std::vector<Parameter> parameters = {{"grad", true, true},    {"self", true, true},
                                             {"other", true, true},   {"result", true, true},
                                             {"alpha", false, false}, {"grads[1]", true, true}};
  const auto expression = to_pointwise(formula(text), parameters, library_functions());
  return expression ? print_readable(expression->graph, expression->outputs[0]) : "no";
}

void visit_formulas(const YAML::Node& entry, Texts& formulas) {
  for (const auto& item : entry) {
    const std::string key = item.first.as<std::string>();
    if (key == "name" || key == "output_differentiability") continue;
    if (item.second.IsMap())
      visit_formulas(item.second, formulas);
    else
      formulas.push_back(item.second.as<std::string>());
  }
}

}  // namespace

TEST_CASE("formulas parse and print back", "[expr][formula]") {
  for (const char* text :
       {"grad", "grad * other.conj()", "mm(grad, mat2.t())", "-(grad * a) / b - c",
        "grad.expand_symint(self.sym_sizes())", "std::get<0>(f(a, b))",
        "grad.defined() ? f(grad) : std::tuple<Tensor, Tensor>()", "{a, {b, c}}",
        "grads[1] + 1.5e-3", "not_implemented(\"x: y, \\\"z\\\"\")",
        "std::vector<c10::SymInt>(padding.size(), 0)", "bias->sym_sizes()",
        "fmap(x, [](int64_t i){return -i;})", "x.item<double>() < 3", "a < b && c > (d)",
        "!a || ~b", "std::optional<Tensor>{x}", "a >= b ? c : d >> 2"})
    CHECK(round_trip(text) == text);
  CHECK(round_trip(" f( a,b )*  2 /* note */") == "f(a, b) * 2");
  CHECK(round_trip("- -self * * *x") == "- -self * * *x");
  CHECK(round_trip("a - - -+ +b") == "a - - -+ +b");
  CHECK(print_formula(formula("self * self.t() + f(self)"), {{"self", "self_"}, {"f", "g"}}) ==
        "self_ * self_.t() + f(self_)");
  CHECK(same_formula(formula("a*b"), formula("a * b")));
  CHECK_FALSE(same_formula(formula("a * b"), formula("b * a")));
}

TEST_CASE("a formula may name its parts", "[expr][formula]") {
  const std::string text = "n = self.sizes(); m = n.size(); grad.expand(n, m)";
  CHECK(
      round_trip(text) ==
      "[&] { const auto n = self.sizes(); const auto m = n.size(); return grad.expand(n, m); }()");
  const SavedAnalysis analysis = saved(text);
  CHECK(variables(analysis) == Texts{"self_sizes"});
  CHECK(print_formula(analysis.rewritten) ==
        "[&] { const auto n = self_sizes; const auto m = n.size(); return grad.expand(n, m); }()");
  CHECK(undefined_names(formula(text), {"grad", "self"}).empty());
  CHECK(undefined_names(formula("n = m; m = 1; n + m"), {}).size() == 1);
  CHECK(pointwise("t = self.exp(); grad * t / (1 + t)") ==
        pointwise("grad * self.exp() / (1 + self.exp())"));
}

TEST_CASE("broken formulas are reported at their place", "[expr][formula]") {
  CHECK(error_of("mm(grad, mat2.t()").offset == 2);
  CHECK(error_of("grad * (self + other").message == "this '(' is never closed: expected ')'");
  CHECK(error_of("grad)").message == "this ')' closes nothing");
  CHECK(error_of("grad * ").message == "expected a value, got the end of the text");
  CHECK(error_of("f(a, b]").offset == 6);
  CHECK(error_of("grad.").message == "expected a member's name after '.', got the end of the text");
  CHECK(error_of("\"abc").message == "this string is not closed");
  CHECK(error_of("a ? b").offset == 5);
  CHECK(error_of("f(a b)").message == "expected ')', got 'b'");
  CHECK_FALSE(parse_formula(std::string(100000, '(')).ok());
}

TEST_CASE("names that are not defined get a suggestion", "[expr][formula]") {
  const Formula tree = formula("grad * slef.size(dim) + at::kFloat + helper(x_t)");
  const auto errors = undefined_names(tree, {"grad", "self", "dim", "x_t"});
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].offset == 7);
  CHECK(errors[0].suggestion == "self");
  const Texts functions = {"helpers"};
  CHECK(undefined_names(tree, {"grad", "self", "dim", "x_t"}, &functions).size() == 2);
  CHECK(uses_name(formula("f(self.t())"), "self"));
  CHECK_FALSE(uses_name(formula("self(x)"), "self"));
  CHECK_FALSE(uses_name(formula("x.self()"), "self"));
  CHECK(uses_name(formula("fmap(x, [&](int i) { return i + self; })"), "self"));
}

TEST_CASE("properties are saved instead of tensors", "[expr][formula]") {
  SavedAnalysis analysis = saved("grad.expand(self.sym_sizes()) / self.numel()");
  CHECK(variables(analysis) == Texts{"self_sizes", "self_numel"});
  CHECK(print_formula(analysis.rewritten) == "grad.expand(self_sizes) / self_numel");
  CHECK(analysis.saved[0].attribute == "sizes");
  CHECK(analysis.saved[0].cpp_type == "DimVector");
  CHECK(analysis.saved[0].initializer == "DimVector(self.sizes())");

  analysis = saved("mm(grad, mat2.t())");
  CHECK(variables(analysis) == Texts{"mat2"});
  CHECK(analysis.saved[0].attribute.empty());

  analysis = saved("f(grad, self.size(dim), self.size(-1), other.scalar_type())");
  CHECK(variables(analysis) == Texts{"self_size_dim", "self_size_m1", "other_scalar_type"});
  CHECK(analysis.saved[1].initializer == "self.size(-1)");

  analysis = saved("zeros_like(self) + as_strided_backward(grad, TensorGeometry(other))");
  CHECK(print_formula(analysis.rewritten) ==
        "zeros(self_sizes, self_options) + as_strided_backward(grad, other_geometry)");
  analysis = saved("cat_tensors_backward(grad, to_args_sizes_symint(tensors), dim)");
  CHECK(variables(analysis) == Texts{"tensors_args_sizes", "dim"});
  analysis = saved("g(grad, bias->sym_sizes())");
  CHECK(analysis.saved[0].cpp_type == "std::optional<DimVector>");
  CHECK(variables(saved("std::vector<Tensor>(tensors.size())")) == Texts{"tensors_length"});
  CHECK(variables(saved("zeros_like(grad) * result")) == Texts{"result"});
  CHECK(variables(saved("self.sizes() == self.sizes() ? self : grad")) ==
        Texts{"self_sizes", "self"});
}

TEST_CASE("pointwise formulas become graphs", "[expr][formula]") {
  CHECK(pointwise("grad * (1 - result * result)") == "grad * (1 - square(result))");
  CHECK(pointwise("grad * other.conj()") == "grad * conj(other)");
  CHECK(pointwise("-grad * ((self / other) / other).conj()") ==
        "-(grad * conj(self / other / other))");
  CHECK(pointwise("tenon::where(self > 0, grad, 0)") == "where(self > 0, grad, 0)");
  CHECK(pointwise("grad.masked_fill(self <= 0, 0)") == "where(self <= 0, 0, grad)");
  CHECK(pointwise("grad * self.div(other, \"floor\")") == "grad * floor_divide(self, other)");
  CHECK(pointwise("grads[1] * alpha") == "grads[1] * alpha");
  CHECK(pointwise("xlogy(self, other)").rfind("where(", 0) == 0);
  CHECK(pointwise("grad.mm(self)") == "no");
  CHECK(pointwise("grad.sum()") == "no");
  CHECK(pointwise("grad * (1 / 2)") == "grad * 0.5");
  CHECK(pointwise("self.sizes()") == "no");
  CHECK(pointwise("f(\"x\")") == "no");
  CHECK(pointwise("alpha") == "no");
  CHECK(pointwise("real(grad)") == "no");  // its dtype is not grad's
}

TEST_CASE("the parser survives arbitrary formulas", "[expr][fuzz]") {
  const Texts pieces = {"self", "(",  ")", "<", ">", "::", ".", "->", "[", "]",  "{",
                        "}",    "\"", "?", ":", "1", ",",  "-", ">=", "=", "/*", " "};
  std::mt19937 random(11);
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (unsigned j = random() % 12; j > 0; --j) text += pieces[random() % pieces.size()];
    const FormulaResult result = parse_formula(text);
    if (result.ok()) REQUIRE(same_formula(formula(print_formula(result.formula)), result.formula));
  }
}

TEST_CASE("every upstream formula parses and prints back", "[.][upstream]") {
  const YAML::Node entries = YAML::LoadFile(tenon::codegen::upstream_file("derivatives.yaml"));
  CHECK(entries.size() == 688);
  Texts formulas;
  for (const auto& entry : entries) visit_formulas(entry, formulas);
  CHECK(formulas.size() == 1388);
  for (const std::string& text : formulas) {
    const FormulaResult result = parse_formula(text);
    INFO(text);
    REQUIRE(result.ok());
    const std::string printed = print_formula(result.formula);
    INFO(printed);
    REQUIRE(same_formula(formula(printed), result.formula));
    analyze_saved(result.formula, {"self", "other", "input", "weight", "bias"});
  }
}

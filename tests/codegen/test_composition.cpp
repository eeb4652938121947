#include "codegen/expr/formulas/composition.h"

#include "codegen/emit/emit_composition.h"

#include <catch2/catch.hpp>

#include "tests/codegen/model/read_text.h"

namespace tenon::codegen {
namespace {

/// The text in C++, locals and all.
std::string cpp(const std::string& text, const std::vector<std::string>& optional = {"weight"}) {
  const expr::FormulaResult parsed = expr::parse_formula(text);
  if (!parsed.ok()) {
    return std::to_string(parsed.errors[0].offset) + ": " + parsed.errors[0].message;
  }
  return expr::print_formula(
      expr::with_meaning_in_cpp(expr::read_optionals(parsed.formula, optional), "f"));
}

TEST_CASE("compositions become C++", "[composition]") {
  CHECK(cpp("self.unsqueeze(-1) * vec2") == "self.unsqueeze(-1) * vec2");
  CHECK(cpp("t = exp(self); t / (1 + t)") ==
        "[&] { const auto t = exp(self); return true_quotient(t, (1 + t)); }()");
  CHECK(cpp("norm(self, p ?? 2, dim)", {"p"}) == "norm(self, value_or(p, 2), dim)");
  CHECK(cpp("a ?? b ?? 0", {"a", "b"}) == "value_or(a, value_or(b, 0))");
  CHECK(cpp("a && b || c") == "(a && b) || c");
  CHECK(cpp("n + 1 << 2") == "(n + 1) << 2");
  CHECK(cpp("xs.size() > n") == "tenon::native::list_size(xs) > n");
  CHECK(cpp("self.size(dims[-1]) % 2") ==
        "true_remainder(self.size(tenon::native::list_element(dims, -1, \"f\", \"dims\")), 2)");
}

TEST_CASE("where it is known to be there, an optional argument is its value", "[composition]") {
  CHECK(cpp("weight ? self * weight : self") == "weight ? self * (*weight) : self");
  CHECK(cpp("!weight ? self : weight.sum()") == "!weight ? self : (*weight).sum()");
  CHECK(cpp("weight && weight.dim() == 1 ? f(weight) : g(weight)") ==
        "weight && (*weight).dim() == 1 ? f((*weight)) : g(weight)");
  CHECK(cpp("weight ? f(weight ?? 1) : self") == "weight ? f(value_or(weight, 1)) : self");
}

TEST_CASE("checks are macros with the operator's name", "[composition]") {
  CHECK(cpp("check(n > 0, \"n is \", n); t = self; t") ==
        "[&] { TENON_CHECK(n > 0, \"[f] n is \", n); const auto t = self; return t; }()");
  CHECK(cpp("check_not_implemented(a, b, c); a") ==
        "[&] { TENON_CHECK_NOT_IMPLEMENTED(a, \"[f] \", b, c); return a; }()");
  // What the test leaves is known: in the message and after it.
  CHECK(cpp("check(!weight || weight.dim() == 1, \"got \", weight.dim()); g(weight)") ==
        "[&] { TENON_CHECK(!weight || ((*weight).dim() == 1), \"[f] got \", (*weight).dim()); "
        "return g(weight); }()");
  CHECK(cpp("check(weight, \"none\"); self * weight") ==
        "[&] { TENON_CHECK(weight, \"[f] none\"); return self * (*weight); }()");
  CHECK(cpp("check(self, \"no\") + 1; self") == "21: only 'name = expression' is followed by ';'");
}

TEST_CASE("mistakes in compositions are at their place", "[composition]") {
  CHECK(cpp("t = self") == "0: the last expression is the result and has no name");
  CHECK(cpp("self; self") == "4: only 'name = expression' is followed by ';'");
  CHECK(cpp("t = self; f(t") == "11: this '(' is never closed: expected ')'");
}

TEST_CASE("compositions have the numbers of expressions by their names", "[composition]") {
  const Read read =
      read_text("- func: f(Tensor self) -> Tensor\n  composite: e = self * pi; e + inf\n"
                "- func: g(Tensor self, float pi) -> Tensor\n  composite: self * pi * e\n");
  const auto first = emit_composition(read.model.operators()[0]);
  REQUIRE(first);
  CHECK(first->locals[0].text == "self * 3.141592653589793");
  CHECK(first->result == "e + ::std::numeric_limits<double>::infinity()");
  const auto second = emit_composition(read.model.operators()[1]);
  REQUIRE(second);
  CHECK(second->result == "self * pi * 2.718281828459045");
}

TEST_CASE("a formula of its own makes a composition explicit", "[composition]") {
  const std::string native =
      "- func: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  pointwise: self * other\n"
      "- func: twice(Tensor self) -> Tensor\n  composite: mul(self, self)\n";
  CHECK(read_text(native).model.operators()[1].is_composite_implicit());
  const Read with = read_text(native, "- name: twice\n  self: mul(grad, self)\n");
  CHECK(with.messages.empty());
  CHECK(!with.model.operators()[1].is_composite_implicit());
}

TEST_CASE("an alias has the forms of its operator", "[alias]") {
  const Read read = read_text(
      "- func: shift.by(Tensor self, Scalar by) -> Tensor\n  variants: function, method, inplace, "
      "out\n  pointwise: self + by\n  out_name: out\n"
      "- alias: move.by(Tensor self, Scalar step) -> Tensor\n  of: shift.by\n");
  CHECK(read.messages.empty());
  std::vector<std::string> names;
  for (const VariantSchema& form : read.model.variants(1))
    names.push_back(form.schema.qualified_name());
  CHECK(names == std::vector<std::string>{"move.by", "move_.by", "move.out"});
  CHECK(read.model.functions().size() == 2);
}

TEST_CASE("a library's expressions call operators of the one that it adds to", "[functions]") {
  const Read base = read_text("- func: glide(Tensor self, Scalar by=2) -> Tensor\n"
                              "  pointwise: self * by\n"
                              "- define: thrice(x)\n  as: 3 * x\n");
  DiagnosticSink sink;
  Sources sources;
  sources.native.push_back(sink.sources().add("mine.yaml",
                                              "- func: mine::f(Tensor self) -> Tensor\n"
                                              "  pointwise: thrice(glide(self))\n"));
  const Model model = load(sources, Dialect::kTenon, sink, &base.model);
  run_checks(model, sink, &base.model);
  CHECK(!sink.has_errors());
}

}  // namespace
}  // namespace tenon::codegen

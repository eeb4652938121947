// libFuzzer target: a formula, and the same text as a pointwise expression. What parses prints to
// something that parses.
#include "codegen/expr/formulas/formula.h"
#include "codegen/expr/graph/differentiate.h"
#include "codegen/expr/graph/parse.h"
#include "tests/codegen/fuzz/check.h"

using namespace tenon::codegen;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text = as_text(data, size);
  const expr::FormulaResult formula = expr::parse_formula(text);
  if (formula.ok()) {
    const std::string printed = expr::print_formula(formula.formula);
    require(expr::parse_formula(printed).ok(), "a printed formula does not parse");
  }
  expr::ParseResult parsed = expr::parse_expressions(
      {text}, {{"self", true, true}, {"other", true, true}, {"n", false, false}});
  if (parsed.ok()) expr::differentiate(parsed.expression);
  return 0;
}

#include "codegen/emit/composition.h"

#include <set>

#include "codegen/expr/append_new.h"
#include "codegen/expr/composition.h"
#include "codegen/expr/formula_names.h"
#include "codegen/expr/formula_pointwise.h"
#include "codegen/expr/print_readable.h"
#include "codegen/model/expression.h"
#include "codegen/model/tensor_methods.h"

namespace tenon::codegen {

std::optional<ir::Composition> emit_composition(const Operator& op) {
  if (!op.composition) return std::nullopt;
  const expr::Formula code =
      with_plain_functions(op, expr::parse_formula(op.composition->text).formula);
  const std::vector<std::string> optional = optional_names(op.schema);
  ir::Composition result;
  const auto text = [&](const expr::Formula& tree) {
    const expr::Formula read = expr::read_optionals(tree, optional);
    for (const std::string& name : expr::called_functions(read))
      result.calls_helpers |= name == "value_or" || name.ends_with("native::copied");
    return expr::print_formula(expr::with_true_division(read));
  };
  const expr::Formula* rest = &code;
  for (; rest->kind == expr::FormulaKind::kLocal; rest = &rest->children[1])
    result.locals.push_back({rest->text, text(rest->children[0])});
  result.result = text(*rest);
  std::set<std::string> used;
  for (const expr::NameUse& use : expr::free_names(code)) used.insert(use.name);
  for (const std::string& name : expr::called_functions(code))
    expr::append_new(result.operators, name);
  for (const schema::Argument& argument : op.schema.args) {
    if (!used.contains(argument.name)) result.unused.push_back(argument.name);
  }
  const bool plain = op.schema.returns.size() == 1 && op.schema.returns[0].type.is_tensor() &&
                     !op.schema.is_view();
  if (plain && code.kind != expr::FormulaKind::kName) {
    if (const auto fused =
            expr::to_pointwise(code, pointwise_parameters(op.schema), functions_of(op))) {
      result.kernel = expr::print_readable(fused->graph, fused->outputs[0]);
    }
  }
  return result;
}

}  // namespace tenon::codegen

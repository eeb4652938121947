#include "codegen/emit/composition.h"

#include <algorithm>
#include <set>

#include "codegen/expr/composition.h"
#include "codegen/expr/formula_names.h"
#include "codegen/expr/formula_pointwise.h"
#include "codegen/expr/print_readable.h"
#include "codegen/model/expression.h"
#include "codegen/model/tensor_methods.h"

namespace tenon::codegen {

Json emit_composition(const Operator& op) {
  if (!op.composition) return nullptr;
  expr::Composition parsed = expr::parse_composition(op.composition->text).composition;
  for (expr::Formula* part : expr::parts_of(parsed))
    *part = with_plain_functions(op, std::move(*part));
  const expr::Composition& code = parsed;
  const std::vector<std::string> optional = optional_names(op.schema);
  const auto text = [&](const expr::Formula& tree) {
    return expr::print_formula(expr::with_true_division(expr::read_optionals(tree, optional)));
  };
  Json locals = Json::array();
  for (const auto& local : code.locals) {
    locals.push_back({{"name", local.name}, {"text", text(local.value)}});
  }
  std::vector<std::string> operators;
  std::set<std::string> used;
  for (const expr::Formula* part : expr::parts_of(code)) {
    for (const expr::NameUse& use : expr::free_names(*part)) used.insert(use.name);
    for (std::string& name : expr::called_functions(*part)) {
      if (std::find(operators.begin(), operators.end(), name) == operators.end()) {
        operators.push_back(std::move(name));
      }
    }
  }
  Json unused = Json::array();
  for (const schema::Argument& argument : op.schema.args) {
    if (!used.contains(argument.name)) unused.push_back(argument.name);
  }
  Json kernel = nullptr;
  const bool plain = code.locals.empty() && op.schema.returns.size() == 1 &&
                     op.schema.returns[0].type.is_tensor() && !op.schema.is_view();
  if (plain && code.result.kind != expr::FormulaKind::kName) {
    if (const auto fused =
            expr::to_pointwise(code.result, pointwise_parameters(op.schema), functions_of(op))) {
      kernel = expr::print_readable(fused->graph, fused->outputs[0]);
    }
  }
  return {{"locals", std::move(locals)}, {"result", text(code.result)},
          {"unused", std::move(unused)}, {"operators", std::move(operators)},
          {"headers", Json::array()},    {"kernel", std::move(kernel)}};
}

}  // namespace tenon::codegen

#include "codegen/model/expression.h"

#include <algorithm>

#include "codegen/expr/formula_pointwise.h"

namespace tenon::codegen {

void report(const SourceString& text, const std::vector<expr::ExprError>& errors,
            DiagnosticSink& sink) {
  for (const expr::ExprError& error : errors) {
    sink.error(text.at(error.offset), error.message, error.suggestion,
               text.end_at(error.offset + error.length));
  }
}

std::vector<expr::Parameter> pointwise_parameters(const schema::FunctionSchema& schema) {
  std::vector<expr::Parameter> parameters;
  for (const auto& argument : schema.args) {
    const bool tensor = argument.type.is_tensor();
    parameters.push_back({argument.name, tensor, tensor});
  }
  return parameters;
}

std::vector<const PointwiseCase*> pointwise_cases_for(const Operator& op,
                                                      std::string_view category) {
  std::vector<const PointwiseCase*> found;
  for (size_t i = 0; i < op.schema.returns.size(); ++i) {
    const PointwiseCase* one = op.pointwise->find(op.schema.return_name(i), category, "cpu");
    if (!one) return {};
    found.push_back(one);
  }
  return found;
}

expr::ParseResult parse_cases(const Operator& op, const std::vector<const PointwiseCase*>& cases) {
  std::vector<std::string> texts;
  for (const PointwiseCase* one : cases) texts.push_back(one->expression.text);
  return expr::parse_expressions(texts, pointwise_parameters(op.schema));
}

std::vector<const PointwiseCase*> differentiable_cases(const Operator& op) {
  const auto floating = pointwise_cases_for(op, "floating");
  return floating.empty() ? pointwise_cases_for(op, "complex") : floating;
}

expr::Promotion promotion_of(const expr::TypeInfo& info) {
  if (info.promotion == expr::Promotion::kDefault && info.computes_floating) {
    return expr::Promotion::kFloat;
  }
  return info.promotion;
}

std::vector<expr::Parameter> formula_parameters(const Operator& op) {
  auto parameters = pointwise_parameters(op.schema);
  std::erase_if(parameters, [&](const expr::Parameter& p) {
    const auto& type = op.schema.find_arg(p.name)->type;
    const bool number = type.is(schema::BaseType::kScalar) || type.is(schema::BaseType::kFloat) ||
                        type.is(schema::BaseType::kInt);
    return !p.is_tensor && !number;
  });
  parameters.push_back({"grad", true, false});
  parameters.push_back({"result", true, false});
  return parameters;
}

std::optional<expr::Expression> as_pointwise(const Operator& op, const Differentiability& analysis,
                                             const BackwardFormula& formula) {
  const bool plain = std::all_of(analysis.inputs.begin(), analysis.inputs.end(),
                                 [](const schema::Argument* a) { return a->type.is_tensor(); }) &&
                     op.schema.returns.size() == 1 && op.schema.returns[0].type.is_tensor();
  if (!plain || formula.inputs.size() != 1) return std::nullopt;
  return expr::to_pointwise(formula.written, formula_parameters(op));
}

}  // namespace tenon::codegen

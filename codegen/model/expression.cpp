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

const expr::Functions& functions_of(const Operator& op) {
  static const expr::Functions none;
  return op.functions ? *op.functions : none;
}

std::vector<expr::Parameter> pointwise_parameters(const schema::FunctionSchema& schema) {
  std::vector<expr::Parameter> parameters;
  for (const auto& argument : schema.args) {
    const bool tensor = argument.type.is_tensor();
    parameters.push_back({argument.name, tensor, tensor});
  }
  return parameters;
}

std::vector<std::string> optional_names(const schema::FunctionSchema& schema) {
  std::vector<std::string> names;
  for (const schema::Argument& argument : schema.args) {
    if (argument.type.is_optional()) names.push_back(argument.name);
  }
  return names;
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

expr::ParseResult parse_cases(const Operator& op, const std::vector<const PointwiseCase*>& cases,
                              const std::string& category) {
  std::vector<std::string> texts;
  for (const PointwiseCase* one : cases) texts.push_back(one->expression.text);
  const bool one_case = cases.size() == 1 && category.empty();
  return expr::parse_expressions(texts, pointwise_parameters(op.schema), functions_of(op),
                                 one_case ? category_of(op, *cases[0]) : category, op.name());
}

std::string category_of(const Operator& op, const PointwiseCase& one) {
  if (!one.category.empty()) return one.category;
  for (const char* category : {"floating", "integral", "complex", "bool"}) {
    const auto parsed =
        expr::parse_expressions({one.expression.text}, pointwise_parameters(op.schema),
                                functions_of(op), category, op.name());
    if (parsed.ok()) return category;
  }
  return {};
}

std::vector<const PointwiseCase*> differentiable_cases(const Operator& op) {
  const auto floating = pointwise_cases_for(op, "floating");
  return floating.empty() ? pointwise_cases_for(op, "complex") : floating;
}

std::optional<expr::Expression> differentiable_expression(const Operator& op) {
  for (const char* category : {"floating", "complex"}) {
    const auto cases = pointwise_cases_for(op, category);
    if (cases.empty()) continue;
    expr::ParseResult parsed = parse_cases(op, cases, category);
    if (parsed.ok()) return std::move(parsed.expression);
  }
  return std::nullopt;
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
  return expr::to_pointwise(formula.written, formula_parameters(op), functions_of(op));
}

}  // namespace tenon::codegen

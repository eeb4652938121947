#include "codegen/meaning/expression.h"

#include <algorithm>

#include "codegen/expr/formulas/formula_pointwise.h"
#include "codegen/meaning/operands.h"
#include "codegen/meaning/update_expression.h"

namespace tenon::codegen {

void report(const SourceString& text, const std::vector<expr::ExprError>& errors,
            DiagnosticSink& sink) {
  for (const expr::ExprError& error : errors) {
    if (error.elsewhere) continue;
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
    if (argument.type.base == schema::BaseType::kGenerator) continue;
    const bool tensor = argument.type.is_tensor();
    parameters.push_back({argument.name, tensor, tensor, argument.type.is_optional(),
                          argument.type.without_optional().is(schema::BaseType::kFloat)});
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
    const PointwiseCase* one = op.as<Pointwise>()->find(op.schema.return_name(i), category, "cpu");
    if (!one) return {};
    found.push_back(one);
  }
  return found;
}

namespace {

/// The case and those of other results that stand before it and whose values it uses by name.
void add_needed(const Operator& op, const PointwiseCase& one, const std::string& category,
                std::vector<const PointwiseCase*>& all) {
  if (std::find(all.begin(), all.end(), &one) != all.end()) return;
  for (size_t i = 0; i < op.schema.returns.size() && op.schema.returns.size() > 1; ++i) {
    const std::string name = op.schema.return_name(i);
    const PointwiseCase* result = op.as<Pointwise>()->find(name, category, "cpu");
    if (result != nullptr && result < &one && uses_name(one.expression.text, name))
      add_needed(op, *result, category, all);
  }
  all.push_back(&one);
}

}  // namespace

expr::ParseResult parse_cases(const Operator& op, const std::vector<const PointwiseCase*>& cases,
                              const std::string& category) {
  const bool one_case = cases.size() == 1 && category.empty();
  const std::string of_category = one_case ? category_of(op, *cases[0]) : category;
  // In file order, in which results are computed.
  std::vector<const PointwiseCase*> all;
  for (const PointwiseCase* one : cases) add_needed(op, *one, of_category, all);
  std::sort(all.begin(), all.end());
  std::vector<std::string> texts, names;
  for (const PointwiseCase* one : all) {
    texts.push_back(one->expression.text);
    names.push_back(op.schema.find_arg(one->output) ? "" : one->output);
  }
  expr::ParseResult parsed = expr::parse_expressions(
      texts, pointwise_parameters(op.schema), functions_of(op), of_category, op.name(), names);
  // Back to what was asked for; mistakes in what it needs are reported there.
  const auto place = [&](size_t text) -> size_t {
    return std::find(cases.begin(), cases.end(), all[text]) - cases.begin();
  };
  std::erase_if(parsed.errors,
                [&](const expr::ExprError& e) { return place(e.text_index) == cases.size(); });
  for (expr::ExprError& error : parsed.errors) error.text_index = place(error.text_index);
  for (expr::Draw& draw : parsed.expression.draws) draw.text_index = place(draw.text_index);
  if (parsed.expression.outputs.size() != all.size()) return parsed;
  std::vector<expr::NodeId> outputs(cases.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (place(i) < cases.size()) outputs[place(i)] = parsed.expression.outputs[i];
  }
  parsed.expression.outputs = std::move(outputs);
  return parsed;
}

std::string category_of(const Operator& op, const PointwiseCase& one) {
  if (!one.category.empty()) return one.category;
  for (const char* category : {"floating", "integral", "complex", "bool"}) {
    if (parse_cases(op, {&one}, category).ok()) return category;
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

bool draws_random_numbers(const Operator& op) {
  if (!op.as<Pointwise>()) return false;
  const std::optional<expr::Expression> expression = differentiable_expression(op);
  return expression && !expression->draws.empty();
}

Promotion promotion_of(const expr::TypeInfo& info) {
  if (info.promotion == Promotion::kDefault && info.computes_floating) {
    return Promotion::kFloat;
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
  parameters.push_back({.name = "grad", .differentiable = false});
  parameters.push_back({.name = "result", .differentiable = false});
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

// What the expressions of `pointwise` and `rowwise` say.

#include <algorithm>
#include <set>

#include "codegen/check/rules.h"
#include "codegen/expr/formulas/token.h"
#include "codegen/expr/graph/differentiate.h"
#include "codegen/expr/graph/print_readable.h"
#include "codegen/expr/rows/differentiate_rows.h"
#include "codegen/meaning/defaults.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/pointwise_kernel.h"
#include "codegen/meaning/row_expression.h"
#include "codegen/model/vocabulary.h"

namespace tenon::codegen::rules {

namespace {

using Cases = std::vector<const PointwiseCase*>;

std::optional<expr::Expression> parse(const Entry& entry, const Cases& cases,
                                      const std::string& category = "") {
  if (cases.empty()) return std::nullopt;
  expr::ParseResult parsed = parse_cases(entry.op, cases, category);
  if (!parsed.ok()) return std::nullopt;
  return std::move(parsed.expression);
}

bool of_integers(const PointwiseCase& one) {
  return one.category == "integral" || one.category == "bool";
}

// `x ^ 2` is an exclusive or, and nobody means that of a real number.
void powers(const Entry& entry, const PointwiseCase& one) {
  if (of_integers(one)) return;
  const SourceString& text = one.expression;
  std::vector<expr::ExprError> errors;
  const std::vector<expr::Token> tokens = expr::tokenize(text.text, errors);
  for (size_t i = 1; i + 1 < tokens.size(); ++i) {
    const bool power = tokens[i].text == "^" && tokens[i + 1].kind == expr::TokenKind::kNumber;
    if (!power) continue;
    const std::string base =
        tokens[i - 1].kind == expr::TokenKind::kName ? tokens[i - 1].text : "x";
    entry.sink.error(text.at(tokens[i].offset),
                     "`^` is exclusive or, for integers alone (then under `integral`); a power is "
                     "`pow(" +
                         base + ", " + tokens[i + 1].text + ")`",
                     "", text.end_at(tokens[i].offset + 1));
  }
}

const char* dtype_rule(Promotion promotion) {
  switch (promotion) {
  case Promotion::kBool: return "bool";
  case Promotion::kFloat: return "floating, whatever the arguments";
  default: return "the arguments' dtype";
  }
}

/// Where a case says which dtypes it is for: in `dtypes`, else it stands under the word.
Location place_of(const Operator& op, const PointwiseCase& one) {
  for (const LocatedName& dtype : op.as<Pointwise>()->dtypes) {
    if (dtype.text == one.category) return dtype.location;
  }
  return one.expression.location;
}

}  // namespace

void pointwise_expression(const Entry& entry) {
  const Operator& op = entry.op;
  if (!op.as<Pointwise>()) return;
  for (const PointwiseCase& one : op.as<Pointwise>()->cases) {
    if (one.backend == "cuda") {
      entry.sink.error(one.expression.location,
                       "an expression for CUDA alone is not supported: the kernels of both "
                       "backends come from one expression");
    }
    report(one.expression, parse_cases(op, {&one}).errors, entry.sink);
    powers(entry, one);
  }
  if (op.promotion == Promotion::kComplexToFloat) {
    const Cases cases = pointwise_cases_for(op, "complex");
    const std::optional<expr::Expression> expression = parse(entry, cases, "complex");
    for (size_t i = 0; expression && i < cases.size(); ++i) {
      const expr::NodeId output = expression->outputs[i];
      if (!expr::infer_types(expression->graph, output).complex_allowed ||
          expr::is_real(expression->graph, output))
        continue;
      entry.sink.error(cases[i]->expression.location,
                       "`promote: complex_to_float` is of values that are real for complex "
                       "numbers: real(x), imag(x) or abs(x)");
    }
  }
}

// A tensor that no expression reads is most often one that a comment of YAML hides.
void pointwise_arguments(const Entry& entry) {
  if (!entry.op.as<Pointwise>() || !entry.op.as<Pointwise>()->complete) return;
  std::set<std::string> used, numbers;
  for (const PointwiseCase& one : entry.op.as<Pointwise>()->cases) {
    const std::optional<expr::Expression> expression = parse(entry, {&one});
    if (!expression) return;
    const expr::TypeInfo info = expr::infer_types(expression->graph, expression->outputs[0]);
    used.insert(info.tensors.begin(), info.tensors.end());
    numbers.insert(info.scalars.begin(), info.scalars.end());
  }
  const auto is_tensor = [](const schema::Argument& arg) { return arg.type.is_tensor(); };
  if (std::none_of(entry.schema().args.begin(), entry.schema().args.end(), is_tensor)) return;
  if (used.empty()) {
    entry.sink.error(entry.op.as<Pointwise>()->cases[0].expression.location,
                     "no expression reads a tensor, so that the result would have no shape");
    return;
  }
  for (const schema::Argument& arg : entry.schema().args) {
    // What computes nothing may still be for `check`, which has all arguments, or for a formula.
    const bool elsewhere = entry.op.check || entry.model.derivative_of(entry.index) != nullptr ||
                           arg.type.base == schema::BaseType::kGenerator;
    if (arg.type.is_tensor() ? used.contains(arg.name) : elsewhere || numbers.contains(arg.name))
      continue;
    const SourceString& text = entry.op.as<Pointwise>()->cases[0].expression;
    const Location end = text.end_at(text.text.size());
    const std::string_view line = end.file->line(end.line);
    const bool comment = end.column <= line.size() && line.substr(end.column - 1).find(" #") == 0;
    entry.sink.report({Severity::kError,
                       entry.op.at(arg.name_span),
                       "no expression reads the " +
                           std::string(arg.type.is_tensor() ? "tensor" : "argument") + " `" +
                           arg.name + "`",
                       {{comment ? end : text.location,
                         comment ? "YAML takes what begins with ` #` here for a comment"
                                 : "the expression is here"}},
                       {}});
  }
}

// A dtype that is asked for without a kernel, or an operator without any.
void pointwise_dtypes(const Entry& entry) {
  const Operator& op = entry.op;
  if (!op.as<Pointwise>() || !op.as<Pointwise>()->complete) return;
  const std::vector<PointwiseCase>& cases = op.as<Pointwise>()->cases;
  if (!results_without_expression(op).empty()) return;  // said by pointwise_cases
  bool asked = false;
  for (const PointwiseCase& one : cases) {
    const std::optional<expr::Expression> expression = parse(entry, {&one}, one.category);
    if (!expression) return;
    asked |= !one.category.empty();
    if (one.category.empty() || !expression->draws.empty()) continue;
    const std::string why = expr::why_not(expression->graph, expression->outputs, one.category);
    if (why.empty()) continue;
    entry.sink.error(place_of(op, one), "no kernel can be made for `" + one.category + "`: " + why);
  }
  if (asked || cases.empty() || !served_dtypes(op).empty()) return;
  std::string whys;
  for (const char* category : {"floating", "integral"}) {
    for (const PointwiseCase& one : cases) {
      const std::optional<expr::Expression> expression = parse(entry, {&one});
      if (!expression) return;
      const std::string why = expr::why_not(expression->graph, expression->outputs, category);
      if (why.empty()) continue;
      whys += (whys.empty() ? "" : ", ") + why;
      break;
    }
  }
  if (whys.empty()) return;
  entry.sink.error(cases[0].expression.location, "no kernel can be made for any dtype: " + whys);
}

void pointwise_outputs(const Entry& entry) {
  if (!entry.op.as<Pointwise>() || entry.has("promote")) return;
  if (!results_without_expression(entry.op).empty()) return;
  for (const std::string& category : pointwise_categories()) {
    const Cases cases = pointwise_cases_for(entry.op, category);
    const std::optional<expr::Expression> expression = parse(entry, cases, category);
    if (!expression) continue;
    const auto rule = [&](size_t i) {
      return promotion_of(expr::infer_types(expression->graph, expression->outputs[i]));
    };
    const auto is_mask = [&](size_t i) {
      return expression->graph[expression->outputs[i]].value_kind == expr::ValueKind::kMask;
    };
    for (size_t i = 1; i < cases.size(); ++i) {
      // A condition beside others is Bool by itself.
      if (rule(i) == rule(0) || is_mask(i) || is_mask(0)) continue;
      const schema::FunctionSchema& schema = entry.schema();
      entry.sink.report(
          {Severity::kError,
           cases[i]->expression.location,
           "the outputs of a pointwise operator have one dtype, but that of `" +
               schema.return_name(i) + "` is " + dtype_rule(rule(i)) + ", of `" +
               schema.return_name(0) + "` " + dtype_rule(rule(0)) +
               ": say which with `promote`, or declare two operators",
           {{cases[0]->expression.location, "`" + schema.return_name(0) + "` is here"}},
           {}});
      return;
    }
  }
}

void random_expression(const Entry& entry) {
  const Operator& op = entry.op;
  if (!op.as<Pointwise>() || !op.as<Pointwise>()->complete) return;
  bool draws = false;
  for (const PointwiseCase& one : op.as<Pointwise>()->cases) {
    const expr::ParseResult parsed = parse_cases(op, {&one});
    if (!parsed.ok()) return;
    draws |= !parsed.expression.draws.empty();
  }
  for (const schema::Argument& arg : entry.schema().args) {
    if (arg.type.base != schema::BaseType::kGenerator || draws) continue;
    entry.sink.report({Severity::kError,
                       op.at(arg.span),
                       "no expression draws random numbers from the generator `" + arg.name + "`",
                       {{op.as<Pointwise>()->location, "the expressions are here"}},
                       {}});
  }
  if (!draws) return;
  for (const LocatedName& dtype : op.as<Pointwise>()->dtypes) {
    if (dtype.text == "floating") continue;
    entry.sink.error(dtype.location,
                     "random numbers are floating, `dtypes` says `" + dtype.text + "`");
    return;
  }
  for (const PointwiseCase& one : op.as<Pointwise>()->cases) {
    if (one.category.empty()) continue;
    entry.sink.error(one.expression.location,
                     "an entry that draws random numbers has one expression for each result: it "
                     "computes in floating types alone");
    return;
  }
  size_t tensors = op.schema.returns.size() + mixed_results(op).drawn.size();
  for (const schema::Argument& arg : entry.schema().args) tensors += arg.type.is_tensor();
  if (tensors > kMaxKernelTensors) {
    entry.sink.error(op.at(entry.schema().name_span),
                     "a pointwise operator has at most " + std::to_string(kMaxKernelTensors) +
                         " tensors, results and random numbers included, got " +
                         std::to_string(tensors));
  }
}

void rowwise_expression(const Entry& entry) {
  if (!entry.op.as<Rowwise>()) return;
  if (entry.kind() != schema::SchemaKind::kFunctional) {
    // What names mean is not known of a schema that rowwise_schema refuses.
    for (const NamedExpressions::Part& part : entry.op.as<Rowwise>()->parts)
      report(part.expression, expr::parse_formula(part.expression.text).errors, entry.sink);
    return;
  }
  const std::optional<RowExpression> row = parse_rowwise(entry.op, entry.sink);
  if (!row || reduces(*row)) return;
  const std::string what =
      "every result has the shape of the elements: `keepdim` says nothing here";
  const schema::Argument* argument = entry.schema().find_arg("keepdim");
  if (argument != nullptr) {
    entry.sink.error(entry.op.at(argument->span), what);
  } else if (entry.op.as<Rowwise>()->keepdim) {
    entry.sink.error(entry.at_key("keepdim"), what);
  }
}

namespace {

/// Whether no result of the expressions can have a gradient.
bool has_no_result_with_gradient(const Operator& op) {
  if (!op.as<Rowwise>()) return op.as<Pointwise>() && has_no_gradient(op);
  DiagnosticSink reported;  // by rowwise_expression
  const std::optional<RowExpression> row = parse_rowwise(op, reported);
  const auto has = [&](expr::NodeId id) { return expr::has_gradient(row->expression.graph, id); };
  return row && std::none_of(row->expression.outputs.begin(), row->expression.outputs.end(), has);
}

}  // namespace

void derivable_expression(const Entry& entry) {
  const Operator& op = entry.op;
  if (op.non_differentiable) return;
  const Derivative* derivative_entry = entry.model.derivative_of(entry.index);
  const FormulaSet* formulas = derivative_entry ? derivative_entry->default_set() : nullptr;
  if (formulas && has_no_result_with_gradient(op)) {
    for (const Formula& formula : formulas->backward) {
      if (formula.kind == FormulaKind::kNonDifferentiable) continue;
      entry.sink.error(formula.text.location,
                       "no result of `" + op.name() +
                           "` can have a gradient: conditions, positions and numbers of elements "
                           "have none");
    }
  }
  if (derivative_entry ? !(formulas && follows_from_expression(op, *formulas))
                       : !entry.model.complete())
    return;
  if (op.as<Rowwise>()) {
    DiagnosticSink reported;  // by rowwise_expression
    std::optional<RowExpression> row = parse_rowwise(op, reported);
    if (!row) return;
    std::vector<bool> outputs(op.schema.returns.size(), true);
    if (formulas) outputs = differentiability(op, *derivative_entry, *formulas).outputs;
    for (const expr::ExprError& error : expr::differentiate_rows(row->expression, outputs).errors) {
      entry.sink.error(op.as<Rowwise>()->location, error.message, error.suggestion);
    }
    return;
  }
  if (!op.as<Pointwise>()) return;
  const Cases cases = differentiable_cases(op);
  std::optional<expr::Expression> expression = differentiable_expression(op);
  if (!expression) return;
  const expr::Derivative derivative = expr::differentiate(*expression);
  for (const expr::ExprError& error : derivative.errors) {
    // One of an intrinsic has no place.
    if (error.length == 0) {
      entry.sink.error(op.as<Pointwise>()->location, error.message, error.suggestion);
    } else {
      report(cases[error.text_index]->expression, {error}, entry.sink);
    }
  }
  for (const std::string& name : derivative.saved_scalars) {
    const schema::Argument* argument = op.schema.find_arg(name);
    if (!argument->type.is_optional()) continue;
    entry.sink.error(op.at(argument->span),
                     "the gradient needs the number `" + name +
                         "`, which may be absent: add an entry to derivatives.yaml");
  }
  // Gradients are those of one expression, whatever the dtype.
  const Cases of_complex = pointwise_cases_for(op, "complex");
  const std::optional<expr::Expression> other = parse(entry, of_complex, "complex");
  if (!other || of_complex == cases) return;
  for (size_t i = 0; i < cases.size(); ++i) {
    const expr::TypeInfo info = expr::infer_types(other->graph, other->outputs[i]);
    const bool same = expr::print_readable(expression->graph, expression->outputs[i]) ==
                      expr::print_readable(other->graph, other->outputs[i]);
    if (same || !info.complex_allowed) continue;
    entry.sink.report(
        {Severity::kError,
         of_complex[i]->expression.location,
         "the derivative follows from the expression for floating numbers, which is another: add "
         "an entry to derivatives.yaml that holds for both, or `non_differentiable: True`",
         {{cases[i]->expression.location, "it is here"}},
         {}});
  }
}

}  // namespace tenon::codegen::rules

// `composite` as an expression of operators.

#include <algorithm>
#include <optional>
#include <set>

#include "codegen/check/rules.h"
#include "codegen/expr/composition.h"
#include "codegen/expr/foreign.h"
#include "codegen/expr/formula_names.h"
#include "codegen/model/expression.h"
#include "codegen/model/tensor_methods.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen::rules {

namespace {

std::optional<expr::Formula> parse(const Operator& op) {
  if (!op.composition) return std::nullopt;
  expr::FormulaResult parsed = expr::parse_formula(op.composition->text);
  if (!parsed.ok()) return std::nullopt;
  return with_plain_functions(op, std::move(parsed.formula));
}

/// Checks the calls of a composition; gives them.
std::vector<CallChecker::Call> check_calls(const Operator& op, const expr::Formula& tree,
                                           const CallChecker& calls, DiagnosticSink& sink) {
  // The checker of formulas knows names by a schema: here that of the operator alone.
  Derivative as_formula;
  as_formula.schema = op.schema;
  Formula formula;
  formula.text = *op.composition;
  for (size_t i = 0; i < op.schema.returns.size(); ++i)
    formula.names.push_back({"", op.composition->location});
  std::vector<CallChecker::Call> made;
  calls.check(as_formula, formula, expr::read_optionals(tree, optional_names(op.schema)), sink,
              made);
  return made;
}

/// The way from a composition to an operator that it computes with, by name; empty where there is
/// none.
std::vector<std::string> way_to(const Operator& target, const Operator& from,
                                const CallChecker& calls, std::set<const Operator*>& seen) {
  if (&from == &target) return {from.name()};
  if (!seen.insert(&from).second) return {};
  std::optional<expr::Formula> code = parse(from);
  if (!code) return {};
  DiagnosticSink reported;  // by the operator's own check
  for (const CallChecker::Call& call : check_calls(from, *code, calls, reported)) {
    std::vector<std::string> way = way_to(target, *call.op, calls, seen);
    if (way.empty()) continue;
    way.insert(way.begin(), from.name());
    return way;
  }
  return {};
}

}  // namespace

void composition(const Model& model, const CallChecker& calls, size_t index, DiagnosticSink& sink) {
  const Operator& op = model.operators()[index];
  if (!op.composition) return;
  const SourceString& text = *op.composition;
  report(text, expr::parse_formula(text.text).errors, sink);
  std::optional<expr::Formula> code = parse(op);
  if (!code) return;
  const schema::FunctionSchema& schema = op.schema;
  const bool values = std::all_of(schema.returns.begin(), schema.returns.end(), [](const auto& r) {
    const bool tensors = r.type.is_tensor() || r.type.is_tensor_list();
    return (tensors || r.type.is(schema::BaseType::kBool)) && !r.is_mutable();
  });
  if (schema.kind() != schema::SchemaKind::kFunctional || schema.returns.empty() || !values) {
    sink.error(op.at(schema.name_span),
               "a composition gives tensors, or a bool, and writes to no argument; its other forms "
               "are asked for with `variants`");
    return;
  }
  std::vector<std::string> known = {"kFloat", "kDouble", "kLong", "kInt", "kBool"};
  for (const schema::Argument& argument : schema.args) known.push_back(argument.name);
  report(text, expr::local_mistakes(*code, known), sink);
  report(text, expr::undefined_names(*code, known), sink);
  std::set<const Operator*> seen;
  for (const CallChecker::Call& call : check_calls(op, *code, calls, sink)) {
    const std::vector<std::string> way = way_to(op, *call.op, calls, seen);
    if (way.empty()) continue;
    std::string shown = "`" + op.name() + "`";
    for (const std::string& name : way) shown += " calls `" + name + "`";
    sink.error(text.at(call.offset), "the composition leads back to itself: " + shown);
  }
}

}  // namespace tenon::codegen::rules

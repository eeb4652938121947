// `composite` as an expression of operators.

#include <algorithm>
#include <optional>
#include <set>

#include "codegen/check/rules.h"
#include "codegen/expr/composition.h"
#include "codegen/expr/formula_names.h"
#include "codegen/model/expression.h"
#include "codegen/model/tensor_methods.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen::rules {

namespace {

std::optional<expr::Composition> parse(const Operator& op) {
  if (!op.composition) return std::nullopt;
  expr::CompositionResult parsed = expr::parse_composition(op.composition->text);
  if (!parsed.ok()) return std::nullopt;
  for (expr::Formula* part : expr::parts_of(parsed.composition))
    *part = with_plain_functions(op, std::move(*part));
  return std::move(parsed.composition);
}

/// Checks one expression of a composition; gives its calls.
std::vector<CallChecker::Call> check_calls(const Operator& op, const expr::Formula& tree,
                                           bool is_result, const CallChecker& calls,
                                           DiagnosticSink& sink) {
  // The checker of formulas knows names by a schema: here that of the operator alone.
  Derivative as_formula;
  as_formula.schema = op.schema;
  Formula formula;
  formula.text = *op.composition;
  const size_t count = is_result ? op.schema.returns.size() : 0;
  for (size_t i = 0; i < count; ++i) formula.names.push_back({"", op.composition->location});
  std::vector<CallChecker::Call> made;
  calls.check(as_formula, formula, expr::read_optionals(tree, optional_names(op.schema)), is_result,
              sink, made);
  return made;
}

/// The way from a composition to an operator that it computes with, by name; empty where there is
/// none.
std::vector<std::string> way_to(const Operator& target, const Operator& from,
                                const CallChecker& calls, std::set<const Operator*>& seen) {
  if (&from == &target) return {from.name()};
  if (!seen.insert(&from).second) return {};
  std::optional<expr::Composition> code = parse(from);
  if (!code) return {};
  DiagnosticSink reported;  // by the operator's own check
  for (const expr::Formula* part : expr::parts_of(*code)) {
    for (const CallChecker::Call& call : check_calls(from, *part, false, calls, reported)) {
      std::vector<std::string> way = way_to(target, *call.op, calls, seen);
      if (way.empty()) continue;
      way.insert(way.begin(), from.name());
      return way;
    }
  }
  return {};
}

}  // namespace

void composition(const Model& model, const CallChecker& calls, size_t index, DiagnosticSink& sink) {
  const Operator& op = model.operators()[index];
  if (!op.composition) return;
  const SourceString& text = *op.composition;
  report(text, expr::parse_composition(text.text).errors, sink);
  std::optional<expr::Composition> parsed = parse(op);
  if (!parsed) return;
  const schema::FunctionSchema& schema = op.schema;
  const bool tensors = std::all_of(schema.returns.begin(), schema.returns.end(), [](const auto& r) {
    return (r.type.is_tensor() || r.type.is_tensor_list()) && !r.is_mutable();
  });
  if (schema.kind() != schema::SchemaKind::kFunctional || schema.returns.empty() || !tensors) {
    sink.error(op.at(schema.name_span),
               "a composition gives tensors and writes to no argument; its other forms are asked "
               "for with `variants`");
    return;
  }
  std::vector<std::string> known = {"kFloat", "kDouble", "kLong", "kInt", "kBool"};
  for (const schema::Argument& argument : schema.args) known.push_back(argument.name);
  expr::Composition& code = *parsed;
  std::set<const Operator*> seen;
  const auto check = [&](const expr::Formula& tree, bool is_result) {
    report(text, expr::undefined_names(tree, known), sink);
    for (const CallChecker::Call& call : check_calls(op, tree, is_result, calls, sink)) {
      const std::vector<std::string> way = way_to(op, *call.op, calls, seen);
      if (way.empty()) continue;
      std::string shown = "`" + op.name() + "`";
      for (const std::string& name : way) shown += " calls `" + name + "`";
      sink.error(text.at(call.offset), "the composition leads back to itself: " + shown);
    }
  };
  std::set<std::string> used;
  for (const expr::Formula* part : expr::parts_of(code)) {
    for (const expr::NameUse& use : expr::free_names(*part)) used.insert(use.name);
  }
  for (const auto& local : code.locals) {
    check(local.value, false);
    const bool taken = std::find(known.begin(), known.end(), local.name) != known.end();
    if (taken) sink.error(text.at(local.offset), "`" + local.name + "` is already defined");
    if (!used.contains(local.name)) {
      sink.error(text.at(local.offset), "no expression reads `" + local.name + "`");
    }
    known.push_back(local.name);
  }
  check(code.result, true);
}

}  // namespace tenon::codegen::rules

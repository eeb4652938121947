// `composite` as an expression of operators.

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include "codegen/check/rules.h"
#include "codegen/expr/formulas/composition.h"
#include "codegen/expr/formulas/foreign.h"
#include "codegen/expr/formulas/formula_names.h"
#include "codegen/expr/graph/constants.h"
#include "codegen/meaning/expression.h"
#include "codegen/meaning/plain_functions.h"
#include "codegen/model/foreach.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen::rules {

namespace {

using Calls = std::vector<CallChecker::Call>;
using CallGraph = std::map<const Operator*, Calls>;

std::optional<expr::Formula> parse(const Operator& op) {
  if (!op.composition()) return std::nullopt;
  expr::FormulaResult parsed = expr::parse_formula(op.composition()->text.text);
  if (!parsed.ok()) return std::nullopt;
  return with_plain_functions(op, std::move(parsed.formula));
}

/// Checks the calls of a composition; gives them.
Calls check_calls(const Operator& op, const expr::Formula& tree, const CallChecker& calls,
                  DiagnosticSink& sink) {
  // The checker of formulas knows names by a schema: here that of the operator alone.
  Derivative as_formula;
  as_formula.schema = op.is<Foreach>() ? element_schema(op.schema) : op.schema;
  Formula formula;
  formula.text = op.composition()->text;
  // One that writes to lists gives nothing.
  const size_t results = op.schema.has_mutable_arg() ? 0 : as_formula.schema.returns.size();
  for (size_t i = 0; i < results; ++i)
    formula.names.push_back({"", op.composition()->text.location});
  Calls made;
  calls.check(as_formula, formula, expr::read_optionals(tree, optional_names(as_formula.schema)),
              sink, made);
  return made;
}

/// Locals become variables of C++.
void check_locals(const SourceString& text, const expr::Formula& code, DiagnosticSink& sink) {
  for (const expr::Formula* rest = &code; expr::has_rest(*rest); rest = &rest->children[1]) {
    if (rest->kind != expr::FormulaKind::kLocal) continue;
    const std::string why = why_no_local(rest->text);
    if (why.empty()) continue;
    sink.error(text.at(rest->offset), "`" + rest->text + "` is " + why + " and can name no local");
  }
}

/// False where it is reported that no composition can have the schema.
bool check_schema(const Operator& op, DiagnosticSink& sink) {
  const schema::FunctionSchema& schema = op.schema;
  const bool values = std::all_of(schema.returns.begin(), schema.returns.end(), [](const auto& r) {
    const bool tensors = r.type.is_tensor() || r.type.is_tensor_list();
    return (tensors || r.type.is(schema::BaseType::kBool)) && !r.is_mutable();
  });
  if (schema.kind() == schema::SchemaKind::kFunctional && !schema.returns.empty() && values)
    return true;
  sink.error(op.at(schema.name_span),
             "a composition gives tensors, or a bool, and writes to no argument; its other forms "
             "are asked for with `variants`");
  return false;
}

/// The same of `foreach`.
bool check_lists(const Operator& op, DiagnosticSink& sink) {
  const schema::FunctionSchema& schema = op.schema;
  const auto is_list = [](const auto& item) { return item.type.is_tensor_list(); };
  if (std::none_of(schema.args.begin(), schema.args.end(), is_list)) {
    sink.error(op.at(schema.name_span),
               "`foreach` needs a list of tensors, `Tensor[]`, whose elements it takes in turn");
    return false;
  }
  for (const schema::Argument& argument : schema.args) {
    if (!argument.is_mutable() || is_list(argument)) continue;
    sink.error(op.at(argument.span), "`foreach` writes to the tensors of lists alone, got `" +
                                         schema::to_string(argument) + "`");
    return false;
  }
  // What an in-place schema returns is for inplace_schema.
  const bool writes = schema.has_mutable_arg();
  const bool gives = schema.returns.size() == 1 && is_list(schema.returns[0]);
  if (schema.kind() != schema::SchemaKind::kOut && !schema.is_view() &&
      (writes ? schema.returns.empty() || schema.is_inplace() : gives))
    return true;
  sink.error(op.at(schema.returns_span),
             "`foreach` gives a list, `-> Tensor[]`, or writes to lists and gives nothing, `-> "
             "()`; its out form is asked for with `variants`");
  return false;
}

/// A tensor that is not read is a mistake; a number may be there for the schema's sake.
void check_tensors_read(const Operator& op, const expr::Formula& code, DiagnosticSink& sink) {
  std::set<std::string> used;
  for (const expr::NameUse& use : expr::free_names(code)) used.insert(use.name);
  for (const schema::Argument& argument : op.schema.args) {
    if (!argument.type.holds_tensors() || used.contains(argument.name)) continue;
    sink.error(op.at(argument.name_span), "no expression reads the tensor `" + argument.name + "`");
  }
}

/// Checks one composition; gives its calls, none where it has no meaning.
Calls check(const Operator& op, const CallChecker& calls, bool has_formulas, DiagnosticSink& sink) {
  const SourceString& text = op.composition()->text;
  const size_t before = sink.num_errors();
  report(text, expr::parse_formula(text.text).errors, sink);
  std::optional<expr::Formula> code = parse(op);
  if (!code) return {};
  if (!(op.is<Foreach>() ? check_lists(op, sink) : check_schema(op, sink))) return {};
  std::vector<std::string> known = {"kFloat",    "kDouble",       "kHalf",
                                    "kBFloat16", "kComplexFloat", "kComplexDouble",
                                    "kLong",     "kInt",          "kBool"};
  for (const schema::Argument& argument : op.schema.args) known.push_back(argument.name);
  report(text, expr::local_mistakes(*code, known), sink);
  check_locals(text, *code, sink);
  for (const expr::NamedConstant& constant : expr::named_constants())
    known.emplace_back(constant.name);
  report(text, expr::undefined_names(*code, known), sink);
  // They may be for the function of `check`, or for a formula, or misspelt.
  if (!op.check && !has_formulas && sink.num_errors() == before)
    check_tensors_read(op, *code, sink);
  return check_calls(op, *code, calls, sink);
}

/// Leaves out what no circle of calls leads to.
void keep_circles(CallGraph& graph) {
  std::map<const Operator*, size_t> callers;
  for (const auto& [op, calls] : graph) {
    for (const CallChecker::Call& call : calls) ++callers[call.op];
  }
  std::vector<const Operator*> uncalled;
  for (const auto& [op, calls] : graph) {
    if (!callers.contains(op)) uncalled.push_back(op);
  }
  while (!uncalled.empty()) {
    const auto found = graph.find(uncalled.back());
    uncalled.pop_back();
    if (found == graph.end()) continue;
    for (const CallChecker::Call& call : found->second) {
      if (--callers[call.op] == 0) uncalled.push_back(call.op);
    }
    graph.erase(found);
  }
}

/// The shortest way between two compositions, by name; empty where there is none.
std::vector<std::string> way(const CallGraph& graph, const Operator* from, const Operator* to) {
  std::map<const Operator*, const Operator*> caller = {{from, nullptr}};
  std::deque<const Operator*> next = {from};
  for (; !next.empty() && next.front() != to; next.pop_front()) {
    const auto found = graph.find(next.front());
    if (found == graph.end()) continue;
    for (const CallChecker::Call& call : found->second) {
      if (caller.try_emplace(call.op, found->first).second) next.push_back(call.op);
    }
  }
  std::vector<std::string> names;
  if (next.empty()) return names;
  for (const Operator* op = to; op != nullptr; op = caller.at(op)) names.push_back(op->name());
  std::reverse(names.begin(), names.end());
  return names;
}

}  // namespace

void composition(const Model& model, const CallChecker& calls, DiagnosticSink& sink) {
  CallGraph graph;
  for (size_t i = 0; i < model.operators().size(); ++i) {
    const Operator& op = model.operators()[i];
    const bool has_formulas = model.derivative_of(i) != nullptr;
    if (op.composition()) graph.emplace(&op, check(op, calls, has_formulas, sink));
  }
  keep_circles(graph);
  for (const auto& [op, made] : graph) {
    for (const CallChecker::Call& call : made) {
      const std::vector<std::string> back = way(graph, call.op, op);
      if (back.empty()) continue;
      std::string shown = "`" + op->name() + "`";
      for (const std::string& name : back) shown += " calls `" + name + "`";
      sink.error(op->composition()->text.at(call.offset),
                 "the composition leads back to itself: " + shown);
    }
  }
}

}  // namespace tenon::codegen::rules

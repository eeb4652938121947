// `composite` as an expression of operators.

#include <algorithm>
#include <set>

#include "codegen/check/rules.h"
#include "codegen/expr/composition.h"
#include "codegen/expr/formula_names.h"
#include "codegen/model/expression.h"
#include "codegen/model/tensor_methods.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen::rules {

void composition(const Model& model, const CallChecker& calls, size_t index, DiagnosticSink& sink) {
  const Operator& op = model.operators()[index];
  if (!op.composition) return;
  const SourceString& text = *op.composition;
  expr::CompositionResult parsed = expr::parse_composition(text.text);
  report(text, parsed.errors, sink);
  if (!parsed.ok()) return;
  for (expr::Formula* part : expr::parts_of(parsed.composition))
    *part = with_plain_functions(op, std::move(*part));
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
  // The checker of formulas knows names by a schema: here that of the operator alone.
  Derivative as_formula;
  as_formula.schema = schema;
  const std::vector<std::string> optional = optional_names(schema);
  expr::Composition& code = parsed.composition;
  const auto check = [&](const expr::Formula& tree, bool is_result) {
    report(text, expr::undefined_names(tree, known), sink);
    Formula formula;
    formula.text = text;
    const size_t count = is_result ? schema.returns.size() : 0;
    for (size_t i = 0; i < count; ++i) formula.names.push_back({"", text.location});
    calls.check(as_formula, formula, expr::read_optionals(tree, optional), is_result, sink);
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

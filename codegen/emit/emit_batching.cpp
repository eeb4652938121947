#include "codegen/emit/emit_batching.h"

#include "codegen/meaning/batched_call.h"
#include "codegen/meaning/row_expression.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen {
namespace {

using schema::SchemaKind;

std::string elements(const ir::ForwardKernel& kernel) {
  std::string rule = "elements";
  for (size_t i = 0; i < kernel.inputs.size(); ++i) {
    if ((kernel.promoting_inputs >> i) & 1) rule += " " + kernel.inputs[i];
  }
  return rule;
}

std::string rows(const Operator& op, const Rowwise& row) {
  std::string rule = "rows";
  for (const schema::Argument& argument : op.schema.args) {
    // Sizes of the last dimensions are the same whatever is in front.
    const bool sizes = to_string(argument.type).starts_with("SymInt");
    if (argument.name == row.over->text && !sizes) rule += " dim=" + argument.name;
  }
  for (const LocatedName& name : row.rows) rule += " rows=" + name.text;
  for (const LocatedName& name : row.columns) rule += " columns=" + name.text;
  return rule;
}

std::optional<std::string> rule_of(const Operator& op, const ir::Form& form,
                                   const std::optional<ir::ForwardKernel>& kernel) {
  if (form.kind == SchemaKind::kOut) return "out";
  const bool made_of_operators = op.composition() || op.as<CompositeFunction>();
  if (form.kind == SchemaKind::kInplace && form.derived && !op.as<Pointwise>())
    return made_of_operators && !form.autograd ? "" : "inplace " + op.name();
  if (op.batched) {
    const auto dims = moved_dimensions(op);
    if (!dims) return "via " + batched_name(op);
    std::string rule = "along";
    for (const std::string& dim : *dims) rule += " dim=" + dim;
    return rule;
  }
  if (op.as<Pointwise>()) return elements(*kernel);
  if (op.as<Update>()) return "elements";
  if (const auto* row = op.as<Rowwise>()) return rows(op, *row);
  if (made_of_operators && !form.autograd) return "";
  if (op.overload_set()) return "elements";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> emit_batching(const Operator& op, const ir::Form& form,
                                         const std::optional<ir::ForwardKernel>& kernel) {
  std::optional<std::string> rule = rule_of(op, form, kernel);
  if (!op.has_tag("nondeterministic_seeded") || rule == "out") return rule;
  return rule.value_or("") + " random";
}

}  // namespace tenon::codegen

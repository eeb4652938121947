#include <algorithm>
#include <set>

#include "codegen/check/rules.h"
#include "codegen/meaning/operands.h"
#include "codegen/meaning/pointwise_kernel.h"
#include "codegen/meaning/update_expression.h"
#include "codegen/schema/printer.h"

// `pointwise` beside a schema that writes arguments.

namespace tenon::codegen::rules {

namespace {

using schema::Argument;

bool is_value(const schema::Type& type) {
  return type.is_tensor() || type.is_optional_tensor() || is_number(type);
}

}  // namespace

void update_schema(const Entry& entry) {
  if (!entry.op.as<Update>()) return;
  const schema::FunctionSchema& schema = entry.schema();
  if (entry.kind() != schema::SchemaKind::kInplace) {
    // Written where the name lacks the `_` is for mutable_self.
    if (schema.self() != nullptr && schema.self()->is_mutable()) return;
    entry.sink.error(entry.op.at(schema.name_span),
                     "`pointwise` of a schema that writes arguments needs an in-place one, which "
                     "writes and returns `self`");
    return;
  }
  if (!entry.op.non_differentiable) {
    entry.sink.error(entry.op.location, "`" + entry.op.name() +
                                            "` writes its arguments by `pointwise`, which gives "
                                            "no derivative: add `non_differentiable: True`");
  }
  if (entry.has("promote")) {
    entry.sink.error(entry.at_key("promote"),
                     "what is written keeps its dtype: `promote` says nothing here");
  }
  size_t tensors = 0, optionals = 0;
  for (const Argument& arg : schema.args) {
    if (!is_value(arg.type)) {
      const bool absent = is_number(arg.type.without_optional());
      entry.sink.error(entry.op.at(arg.span), std::string(absent ? "an update takes no number that "
                                                                   "may be absent, got `"
                                                                 : "a pointwise operator takes "
                                                                   "tensors and numbers, got `") +
                                                  schema::to_string(arg) + "`");
      continue;
    }
    tensors += arg.type.holds_tensors() + arg.is_mutable();
    optionals += arg.type.is_optional_tensor();
  }
  if (tensors > kMaxKernelTensors) {
    entry.sink.error(entry.op.at(schema.name_span),
                     "a pointwise operator has at most " + std::to_string(kMaxKernelTensors) +
                         " tensors, written ones twice, got " + std::to_string(tensors));
  }
  if (optionals > kMaxOptionalTensors) {
    entry.sink.error(entry.op.at(schema.name_span),
                     "at most " + std::to_string(kMaxOptionalTensors) +
                         " tensors may be absent, since each set of them has a kernel, got " +
                         std::to_string(optionals));
  }
}

void update_expression(const Entry& entry) {
  const Operator& op = entry.op;
  if (!op.as<Update>() || op.as<Update>()->parts.empty()) return;
  for (const Argument& arg : entry.schema().args) {
    if (!is_value(arg.type)) return;
  }
  size_t optionals = 0;
  for (const Argument& arg : entry.schema().args) optionals += arg.type.is_optional_tensor();
  if (optionals > kMaxOptionalTensors) return;
  for (const std::set<std::string>& given : given_sets(entry.schema())) {
    const size_t before = entry.sink.num_errors();
    const std::optional<UpdateExpression> update = parse_update(op, given, entry.sink);
    if (entry.sink.num_errors() != before) return;
    if (!update) return;
  }
  for (const Argument& arg : entry.schema().args) {
    if (!arg.type.holds_tensors() || arg.is_mutable()) continue;
    const auto& parts = op.as<Update>()->parts;
    const bool read = std::any_of(parts.begin(), parts.end(), [&](const auto& part) {
      return uses_name(part.expression.text, arg.name);
    });
    if (read) continue;
    entry.sink.report({Severity::kError,
                       entry.op.at(arg.name_span),
                       "no expression reads the tensor `" + arg.name + "`",
                       {{op.as<Update>()->location, "the expressions are here"}},
                       {}});
  }
}

}  // namespace tenon::codegen::rules

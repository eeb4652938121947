#include <algorithm>

#include "codegen/check/rules.h"

namespace tenon::codegen::rules {

namespace {

using schema::SchemaKind;

// Nothing to differentiate without a tensor on both sides; out forms never are differentiated.
bool has_gradient(const schema::FunctionSchema& schema) {
  const auto holds_tensors = [](const auto& item) { return item.type.holds_tensors(); };
  const SchemaKind kind = schema.kind();
  return kind != SchemaKind::kOut && kind != SchemaKind::kScratch &&
         std::any_of(schema.args.begin(), schema.args.end(), holds_tensors) &&
         std::any_of(schema.returns.begin(), schema.returns.end(), holds_tensors);
}

}  // namespace

void differentiated(const Entry& entry) {
  const Operator& op = entry.op;
  if (!entry.model.complete() || entry.has_unknown_key() || op.is<AliasOf>()) return;
  const bool unread_composite = entry.has("composite") && op.is<Unsaid>();
  if (unread_composite || entry.has("non_differentiable") || entry.has("pointwise") ||
      entry.has("rowwise") || op.is_composite_implicit())
    return;
  if (!has_gradient(op.schema) || entry.model.derivative_of(entry.index) != nullptr) return;
  if (entry.model.is_misnamed(op.name())) return;
  entry.sink.error(op.location, "`" + op.name() +
                                    "` does not say how it is differentiated: add an entry to "
                                    "derivatives.yaml, or `non_differentiable: True`");
}

void differentiated_once(const Entry& entry) {
  const Derivative* derivative = entry.model.derivative_of(entry.index);
  if (derivative == nullptr || derivative->target != entry.index) return;
  std::string reason;
  Location place;
  if (entry.op.is<AliasOf>()) {
    reason = "has the derivative of the operator that it is an alias of";
    place = entry.at_key("alias");
  } else if (entry.op.non_differentiable) {
    reason = "is declared `non_differentiable`";
    place = entry.at_key("non_differentiable");
  } else if (entry.op.is_composite_implicit()) {
    reason = "inherits its derivative, because it is composite (`composite: explicit` has its own)";
    place = entry.has("composite") ? entry.at_key("composite") : entry.at_key("dispatch");
  } else {
    return;
  }
  entry.sink.report({Severity::kError,
                     derivative->location,
                     "`" + entry.op.name() + "` " + reason,
                     {{place, "it says so here"}},
                     {}});
}

}  // namespace tenon::codegen::rules

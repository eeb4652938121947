#include "codegen/check/check.h"
#include "codegen/meaning/cpp_names.h"

namespace tenon::codegen {
namespace {

/// The base's operator of this name and namespace, whatever its overload.
const Operator* same_function(const Model& base, const Operator& op) {
  for (const Operator& other : base.operators()) {
    const bool same = other.base_name() == op.base_name() &&
                      cpp_namespace(other.schema) == cpp_namespace(op.schema);
    if (same) return &other;
  }
  return nullptr;
}

}  // namespace

void check_against_base(const Model& model, const Model& base, DiagnosticSink& sink) {
  const RuleScope scope(sink, "base_operator");
  for (const Operator& op : model.operators()) {
    if (const Operator* other = same_function(base, op)) {
      // Its header would stand before the library's, which has the same path.
      sink.report({Severity::kError,
                   op.location,
                   "`" + op.base_name() + "` is a function of the library that this one adds to: " +
                       "choose another name, or a namespace",
                   {{other->location, "the library's is here"}},
                   {}});
    }
    if (op.variants.method) {
      sink.error(op.variants_location,
                 "methods of Tensor are the library's own: leave `method` out");
    }
  }
}

}  // namespace tenon::codegen

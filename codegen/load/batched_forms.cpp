// `batched`: an expression of other operators is a composition of its own.

#include "codegen/load/loaders.h"
#include "codegen/meaning/batched_call.h"

namespace tenon::codegen::detail {

void derive_batched_forms(std::vector<Operator>& operators) {
  const size_t written = operators.size();
  for (size_t i = 0; i < written; ++i) {
    const Operator& of = operators[i];
    if (!of.batched || of.schema.kind() != schema::SchemaKind::kFunctional || moved_dimensions(of))
      continue;
    Operator batched;
    batched.schema = of.schema;
    batched.schema.name = "_" + of.base_name() + "_batched";
    batched.schema_text = of.schema_text;
    batched.location = of.location;
    batched.reports_as = of.error_name();
    for (const char* key : {"func", "composite", "variants"})
      batched.keys.push_back({key, of.location});
    batched.has_methods = of.has_methods;
    batched.variants.function = true;
    batched.variants_location = of.location;
    batched.computation = Composition{*of.batched, true, {}, {}};
    operators.push_back(std::move(batched));
  }
}

}  // namespace tenon::codegen::detail

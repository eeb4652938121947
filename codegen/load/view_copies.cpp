// `*_copy` of views.

#include <algorithm>
#include <string>

#include "codegen/load/loaders.h"

namespace tenon::codegen::detail {

namespace {

using schema::FunctionSchema;
using schema::SchemaKind;

/// What composes views, as reshape, is left to its parts.
bool has_copy(const Operator& op) {
  return op.schema.kind() == SchemaKind::kFunctional && op.schema.is_view() && !op.is<AliasOf>() &&
         !op.is_composite_implicit();
}

FunctionSchema copying_schema(FunctionSchema schema) {
  schema.name += "_copy";
  for (schema::Argument& argument : schema.args) argument.alias.reset();
  for (schema::Return& one : schema.returns) one.alias.reset();
  return schema;
}

Operator copy_of(const Operator& view) {
  Operator copy;
  copy.schema = copying_schema(view.schema);
  copy.schema_text = view.schema_text;
  copy.location = view.location;
  for (const char* key : {"func", "composite", "variants"})
    copy.keys.push_back({key, view.location});
  copy.variants.function = copy.variants.out = true;
  copy.variants_location = view.location;
  std::string arguments;
  for (const schema::Argument& argument : view.schema.args)
    arguments += (arguments.empty() ? "" : ", ") + argument.name;
  const SourceString code = {
      "tenon::native::copied(" + view.schema.name + "(" + arguments + "))", view.location, {}};
  copy.computation = Composition{code, true, {}, {}};
  copy.python_module = view.python_module;
  copy.tags.push_back({"view_copy", view.location});
  return copy;
}

}  // namespace

void derive_view_copies(std::vector<Operator>& operators) {
  const auto exists = [&](const Operator& wanted) {
    return std::any_of(operators.begin(), operators.end(),
                       [&](const Operator& op) { return op.name() == wanted.name(); });
  };
  const size_t written = operators.size();
  for (size_t i = 0; i < written; ++i) {
    if (!has_copy(operators[i])) continue;
    Operator copy = copy_of(operators[i]);
    if (!exists(copy)) operators.push_back(std::move(copy));
  }
}

}  // namespace tenon::codegen::detail

#include <algorithm>

#include "codegen/check/rules.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen::rules {

namespace {

using schema::Argument;
using schema::Return;
using schema::SchemaKind;

}  // namespace

void alias_sets(const Entry& entry) {
  const auto check = [&](const auto& item) {
    if (!item.alias) return;
    const schema::Alias& alias = *item.alias;
    if (alias.is_write && alias.before.size() > 1) {
      entry.sink.error(entry.op.at(item.span),
                       "`" + schema::to_string(item) + "` is written, so it has one alias set");
    } else if (alias.before.size() > 1 && alias.after.size() > 1) {
      entry.sink.error(entry.op.at(item.span),
                       "`" + schema::to_string(item) +
                           "` has several alias sets on both sides of the arrow");
    }
  };
  for (const Argument& arg : entry.schema().args) check(arg);
  for (const Return& ret : entry.schema().returns) check(ret);
}

// An annotation of a list holds for all its elements; deeper nestings would be ambiguous.
void annotated_type(const Entry& entry) {
  const auto check = [&](const auto& item) {
    const schema::Type& type = item.type;
    const bool plain = type.is_tensor() || type.is_optional_tensor() ||
                       (type.is_tensor_list() && !type.list_size());
    if (!item.alias || plain) return;
    entry.sink.error(entry.op.at(item.span),
                     "only Tensor, Tensor? and Tensor[] can be annotated, got `" +
                         schema::to_string(type) + "`");
  };
  for (const Argument& arg : entry.schema().args) check(arg);
  for (const Return& ret : entry.schema().returns) check(ret);
}

void mutable_before_self(const Entry& entry) {
  const Argument* self = entry.schema().self();
  if (self == nullptr) return;
  for (const Argument& arg : entry.schema().args) {
    if (&arg == self) return;
    if (arg.is_mutable()) {
      entry.sink.error(entry.op.at(arg.span),
                       "`" + arg.name + "` is written, so it must stand after self");
    }
  }
}

// What is written in place has a name already; to return it as well would hide that it is no new
// tensor from those who group the forms of an operator.
void returned_argument(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  for (const Return& ret : schema.returns) {
    if (!ret.is_mutable()) continue;
    for (const Argument& arg : schema.args) {
      const bool may = arg.kwarg_only || &arg == schema.self();
      if (!arg.is_mutable() || arg.alias != ret.alias || may) continue;
      entry.sink.error(entry.op.at(ret.span), "`" + schema::to_string(ret) + "` returns `" +
                                                  arg.name +
                                                  "`; only self and out arguments are returned");
    }
  }
}

void tensor_options(const Entry& entry) {
  const std::optional<size_t> options = entry.schema().tensor_options();
  if (!options || entry.kind() == SchemaKind::kFunctional) return;
  entry.sink.error(entry.op.at(entry.schema().args[*options].span),
                   "dtype, layout, device and pin_memory belong to functional schemas; what is "
                   "written has its own");
}

void functional_overload(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  if (schema.overload.find("functional") == std::string::npos) return;
  if (entry.kind() == SchemaKind::kFunctional) return;
  entry.sink.error(entry.op.at(schema.name_span),
                   "an overload named `functional` must be functional, but this schema is " +
                       std::string(schema::to_string(entry.kind())));
}

void dunder_name(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  if (!schema.is_dunder() || schema.is_inplace_name() || !schema.name.starts_with("__i")) return;
  entry.sink.error(entry.op.at(schema.name_span),
                   "`" + schema.name + "` is no augmented assignment of Python");
}

}  // namespace tenon::codegen::rules

#include "codegen/meaning/cpp_names.h"

#include <algorithm>
#include <map>
#include <string>

#include "codegen/check/rules.h"
#include "codegen/model/signature.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen::rules {

namespace {

using schema::BaseType;

template <size_t n>
bool is_one_of(BaseType base, const BaseType (&bases)[n]) {
  return std::find(std::begin(bases), std::end(bases), base) != std::end(bases);
}

/// Whether generated code has the type: those that a boxed value (aten/dispatch/value.h) holds.
bool has_cpp_type(const schema::Type& type, bool is_result) {
  constexpr BaseType kOnlyUpstreams[] = {
      BaseType::kDeviceIndex, BaseType::kDimname, BaseType::kDimVector,   BaseType::kQScheme,
      BaseType::kStorage,     BaseType::kStream,  BaseType::kGraphModule, BaseType::kCustomClass};
  constexpr BaseType kNumbers[] = {BaseType::kInt, BaseType::kSymInt, BaseType::kFloat,
                                   BaseType::kScalar};
  if (is_result && type.base == BaseType::kScalar && type.is_list()) return false;
  if (is_one_of(type.base, kOnlyUpstreams)) return false;
  const schema::Type plain = type.without_optional();
  if (plain.suffixes.empty()) return true;
  if (!plain.is_list()) return false;
  if (type.is_tensor_list() || type.is_optional_tensor_list()) return true;
  const bool of_plain = plain.element().suffixes.empty();
  return of_plain && (is_one_of(type.base, kNumbers) ||
                      (type.base == BaseType::kBool && plain.list_size().has_value()));
}

void unknown_constants(const schema::DefaultValue& value, const schema::Argument& argument,
                       const Entry& entry) {
  if (const auto* list = value.get<schema::ListValue>()) {
    for (const schema::DefaultValue& item : *list) unknown_constants(item, argument, entry);
  }
  const auto* name = value.get<schema::NameValue>();
  if (name == nullptr || cpp_constant(argument.type.base, name->name)) return;
  entry.sink.error(entry.op.at(argument.span),
                   "`" + name->name + "` has no counterpart here and can be no default");
}

/// The C++ function's name and types: what tells overloads apart.
std::string cpp_signature(const schema::FunctionSchema& schema,
                          const std::optional<size_t>& options) {
  std::string text = schema.ns + "::" + schema.name + (schema.is_out() ? "_out(" : "(");
  if (schema.is_out()) {
    for (const schema::Argument* out : schema.out_args()) text += cpp_parameter_type(*out) + ",";
  }
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const schema::Argument& argument = schema.args[i];
    if (options && i == *options) {
      text += "options,";
      i += 3;
    } else if (!(schema.is_out() && argument.is_mutable() && argument.kwarg_only)) {
      text += cpp_parameter_type(argument) + ",";
    }
  }
  return text;
}

}  // namespace

void cpp_type(const Entry& entry) {
  const auto check = [&](const schema::Type& type, const schema::Span& span, bool is_result) {
    if (has_cpp_type(type, is_result)) return;
    entry.sink.error(entry.op.at(span),
                     "no value here is a `" + schema::to_string(type) +
                         "`: they are tensors, numbers, str, Scalar, ScalarType, Layout, Device, "
                         "MemoryFormat and Generator, optional or not, and lists of Tensor, "
                         "Tensor?, int, float, Scalar and bool[N]");
  };
  for (const schema::Argument& argument : entry.schema().args) {
    check(argument.type, argument.span, false);
    const bool list = argument.type.is_tensor_list() && !argument.type.list_size();
    if (argument.is_mutable() && list && !entry.op.is<Foreach>()) {
      entry.sink.error(entry.op.at(argument.span), "a list is written with `foreach` alone, got `" +
                                                       schema::to_string(argument) + "`");
    }
    if (argument.default_value) unknown_constants(*argument.default_value, argument, entry);
  }
  for (const schema::Return& ret : entry.schema().returns) check(ret.type, ret.span, true);
}

// C++ tells overloads apart by the types of their arguments alone, not by names.
void distinct_overloads(const Model& model, DiagnosticSink& sink) {
  struct Owner {
    const schema::FunctionSchema* schema;
    const Operator* op;
  };
  std::map<std::string, Owner> seen;
  for (size_t i = 0; i < model.operators().size(); ++i) {
    const Operator& op = model.operators()[i];
    for (const VariantSchema& form : model.variants(i)) {
      if (!form.function && !form.method) continue;
      const schema::FunctionSchema& schema = form.schema;
      const std::string types = cpp_signature(schema, schema.tensor_options());
      const auto [before, is_new] = seen.try_emplace(types, Owner{&schema, &op});
      const schema::FunctionSchema& other = *before->second.schema;
      // Twice the same operator is for one_form_per_kind.
      if (is_new || to_string(signature(schema)) == to_string(signature(other))) continue;
      sink.report({Severity::kError,
                   form.derived ? op.variants_location : op.location,
                   "`" + schema.qualified_name() + "` and `" + other.qualified_name() +
                       "` take the same types: C++ could not tell them apart",
                   {{before->second.op->location, "the other is here"}},
                   {}});
    }
  }
}

}  // namespace tenon::codegen::rules

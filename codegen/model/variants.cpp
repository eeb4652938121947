#include "codegen/model/variants.h"

namespace tenon::codegen {

namespace {

using schema::Alias;
using schema::Argument;
using schema::BaseType;
using schema::FunctionSchema;
using schema::Return;
using schema::SchemaKind;

Alias writes(char letter) {
  Alias alias;
  alias.before = {letter};
  alias.is_write = true;
  return alias;
}

}  // namespace

std::optional<FunctionSchema> derive_inplace(const FunctionSchema& functional) {
  const Argument* self = functional.self();
  const bool fits = self != nullptr && !functional.has_mutable_arg() && !self->alias &&
                    functional.returns.size() == 1 && !functional.returns[0].alias &&
                    functional.returns[0].type == self->type &&
                    (self->type.is_tensor() || self->type.is_tensor_list());
  if (!fits || functional.is_inplace_name()) return std::nullopt;

  FunctionSchema result = functional;
  result.name = functional.is_dunder() ? "__i" + functional.name.substr(2) : functional.name + "_";
  result.args[static_cast<size_t>(functional.arg_index("self"))].alias = writes('a');
  if (self->type.is_tensor()) {
    result.returns[0].alias = writes('a');
    result.returns[0].name.clear();
  } else {
    result.returns.clear();
  }
  return result;
}

std::optional<FunctionSchema> derive_out(const FunctionSchema& functional,
                                         const std::string& overload) {
  if (functional.returns.empty() || functional.returns.size() > 26 ||
      functional.has_mutable_arg() || functional.is_view()) {
    return std::nullopt;
  }
  FunctionSchema result = functional;
  result.overload = overload;
  result.returns.clear();
  // What is not given is out's.
  if (const std::optional<size_t> dtype = functional.tensor_options()) {
    std::optional<schema::DefaultValue>& value = result.args[*dtype].default_value;
    if (value) value = schema::DefaultValue{"None", schema::NoneValue{}};
  }
  for (size_t i = 0; i < functional.returns.size(); ++i) {
    const Return& ret = functional.returns[i];
    if (!ret.type.is_tensor() && !ret.type.is_tensor_list()) return std::nullopt;
    Argument out;
    out.type = ret.type;
    out.alias = writes(static_cast<char>('a' + i));
    out.kwarg_only = true;
    out.name = ret.name;
    if (out.name.empty()) {
      out.name = functional.returns.size() == 1 ? "out" : "out" + std::to_string(i);
    }
    if (ret.type.is_tensor()) {
      Return returned = ret;
      returned.alias = out.alias;
      result.returns.push_back(std::move(returned));
    }
    result.args.push_back(std::move(out));
  }
  // Lists can only be written, and either all out arguments are returned or none.
  if (result.returns.size() != functional.returns.size()) result.returns.clear();
  return result;
}

std::string out_overload(const Operator& op) {
  if (op.out_name) return op.out_name->text;
  return op.schema.overload.empty() ? "out" : op.schema.overload + "_out";
}

std::vector<VariantSchema> variant_schemas(const Operator& op) {
  std::vector<VariantSchema> result;
  VariantSchema own;
  own.schema = op.schema;
  own.kind = op.schema.kind();
  own.method = op.variants.method;
  own.function = op.variants.function;
  result.push_back(std::move(own));
  if (op.variants.inplace) {
    if (std::optional<FunctionSchema> inplace = derive_inplace(op.schema)) {
      const bool method = op.has_methods && op.schema.self()->type.is_tensor();
      result.push_back({.schema = std::move(*inplace),
                        .kind = SchemaKind::kInplace,
                        .derived = true,
                        .method = method});
    }
  }
  if (op.variants.out) {
    if (std::optional<FunctionSchema> out = derive_out(op.schema, out_overload(op))) {
      result.push_back({.schema = std::move(*out), .kind = SchemaKind::kOut, .derived = true});
    }
  }
  return result;
}

}  // namespace tenon::codegen

#include "codegen/emit/emit_form.h"

#include <algorithm>

#include "codegen/meaning/cpp_names.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen {
namespace {

using schema::Argument;
using schema::BaseType;
using schema::FunctionSchema;

ir::Argument emit_argument(const Argument& argument) {
  const schema::Type& type = argument.type;
  ir::Argument result;
  result.name = argument.name;
  result.type = cpp_parameter_type(argument);
  result.owned = cpp_owned_type(type);
  result.default_text = cpp_default(argument);
  result.schema_type = to_string(type);
  result.is_tensor = type.is_tensor();
  result.is_optional_tensor = type.is_optional_tensor();
  result.is_tensor_list = type.is_tensor_list() || type.is_optional_tensor_list();
  result.is_mutable = argument.is_mutable();
  result.kwarg_only = argument.kwarg_only;
  return result;
}

/// The parameters a user sees: out arguments first, as PyTorch's C++ API has it, and TensorOptions
/// for dtype, layout, device, pin_memory.
ir::Api emit_api(const Operator& op, const FunctionSchema& schema) {
  ir::Api api;
  const auto options = schema.tensor_options();
  api.has_options = options.has_value();
  // Without its default where calls of the overloads would be ambiguous.
  const auto required = [&](const Argument& argument) {
    return std::any_of(op.cpp_no_default_args.begin(), op.cpp_no_default_args.end(),
                       [&](const LocatedName& name) { return name.text == argument.name; });
  };
  const auto add = [&](const Argument& argument, bool with_default) {
    api.parameters.push_back({argument.name, cpp_parameter_type(argument),
                              with_default && !required(argument) ? cpp_default(argument) : ""});
  };
  const bool out_first = schema.is_out();
  if (out_first) {
    for (const Argument* out : schema.out_args()) add(*out, false);
  }
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const Argument& argument = schema.args[i];
    if (options && i == *options) {
      api.parameters.push_back(
          {"options", "const tenon::TensorOptions&", argument.default_value ? "{}" : ""});
      i += 3;
      for (const char* part : {"dtype_opt", "layout_opt", "device_opt", "pinned_memory_opt"}) {
        api.call.push_back(std::string("options.") + part + "()");
      }
      continue;
    }
    api.call.push_back(argument.name);
    if (out_first && argument.is_mutable() && argument.kwarg_only) continue;
    add(argument, true);
  }
  // In C++ nothing with a default stands before what has none, as a keyword argument may.
  bool needed = false;
  for (auto one = api.parameters.rbegin(); one != api.parameters.rend(); ++one) {
    needed |= one->default_text.empty();
    if (needed) one->default_text.clear();
  }
  return api;
}

/// Expressions whose keys decide where the call goes.
std::vector<std::string> dispatch_arguments(const FunctionSchema& schema) {
  std::vector<std::string> keys;
  for (const Argument& argument : schema.args) {
    if (argument.type.holds_tensors()) keys.push_back(argument.name);
  }
  if (!keys.empty()) return keys;
  for (const Argument& argument : schema.args) {
    if (argument.type.is(BaseType::kDevice)) keys.push_back(argument.name);
    if (argument.type.without_optional().is(BaseType::kDevice) && argument.type.is_optional()) {
      keys.push_back(argument.name + ".value_or(tenon::Device(tenon::kCPU))");
    }
  }
  return keys;
}

}  // namespace

ir::Form emit_form(const Operator& op, const VariantSchema& form) {
  const FunctionSchema& schema = form.schema;
  ir::Form result;
  result.ident = cpp_identifier(schema);
  result.name = schema.name;
  result.base = schema.base_name();
  result.overload = schema.overload;
  result.schema_namespace = schema.ns.empty() ? "aten" : schema.ns;
  result.error_name =
      result.schema_namespace == "aten" ? result.name : schema.ns + "::" + result.name;
  result.schema = to_string(schema);
  result.place = ir::Place(op.location);
  result.kind = schema.kind();
  result.derived = form.derived;
  result.method = form.method;
  result.function = form.function;
  for (const Argument& argument : schema.args) result.arguments.push_back(emit_argument(argument));
  result.api = emit_api(op, schema);
  if (schema.is_out()) {
    for (const Argument* out : schema.out_args()) result.outs.push_back(out->name);
  }
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    const schema::Return& ret = schema.returns[i];
    result.returns.push_back(
        {schema.return_name(i), ret.type.is_tensor(), ret.type.is_tensor_list(), ret.is_mutable()});
  }
  result.return_type = cpp_return_type(schema);
  result.keys = dispatch_arguments(schema);
  result.is_view = schema.is_view();
  for (const char* group : {"fft", "linalg", "special"}) {
    if (result.name.starts_with(std::string(group) + "_")) {
      result.group = group;
      result.group_name = result.name.substr(result.group.size() + 1);
    }
  }
  return result;
}

}  // namespace tenon::codegen

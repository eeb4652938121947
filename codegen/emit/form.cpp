#include "codegen/emit/form.h"

#include <algorithm>

#include "codegen/model/cpp_types.h"
#include "codegen/schema/printer.h"

namespace tenon::codegen {
namespace {

using schema::Argument;
using schema::BaseType;
using schema::FunctionSchema;

Json emit_argument(const Argument& argument) {
  return {
      {"name", argument.name},
      {"type", cpp_parameter_type(argument)},
      {"owned", cpp_owned_type(argument.type)},
      {"default", cpp_default(argument)},
      {"schema_type", to_string(argument.type)},
      {"is_tensor", argument.type.is_tensor()},
      {"is_optional_tensor", argument.type.is_optional_tensor()},
      {"is_tensor_list", argument.type.is_tensor_list() || argument.type.is_optional_tensor_list()},
      {"is_mutable", argument.is_mutable()},
      {"kwarg_only", argument.kwarg_only},
  };
}

/// The parameters a user sees: out arguments first, as PyTorch's C++ API has it, and TensorOptions
/// for dtype, layout, device, pin_memory.
Json emit_api(const Operator& op, const FunctionSchema& schema) {
  Json parameters = Json::array();
  Json call = Json::array();
  const auto options = schema.tensor_options();
  // Without its default where calls of the overloads would be ambiguous.
  const auto required = [&](const Argument& argument) {
    return std::any_of(op.cpp_no_default_args.begin(), op.cpp_no_default_args.end(),
                       [&](const LocatedName& name) { return name.text == argument.name; });
  };
  const auto add = [&](const Argument& argument, bool with_default) {
    parameters.push_back(
        {{"name", argument.name},
         {"type", cpp_parameter_type(argument)},
         {"default", with_default && !required(argument) ? cpp_default(argument) : ""}});
  };
  const bool out_first = schema.is_out();
  if (out_first) {
    for (const Argument* out : schema.out_args()) add(*out, false);
  }
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const Argument& argument = schema.args[i];
    if (options && i == *options) {
      parameters.push_back({{"name", "options"},
                            {"type", "const tenon::TensorOptions&"},
                            {"default", argument.default_value ? "{}" : ""}});
      i += 3;
      for (const char* part : {"dtype_opt", "layout_opt", "device_opt", "pinned_memory_opt"}) {
        call.push_back(std::string("options.") + part + "()");
      }
      continue;
    }
    call.push_back(argument.name);
    if (out_first && argument.is_mutable() && argument.kwarg_only) continue;
    add(argument, true);
  }
  // In C++ nothing with a default stands before what has none, as a keyword argument may.
  for (size_t i = parameters.size(), needed = 0; i-- > 0;) {
    needed += parameters[i]["default"] == "";
    if (needed > 0) parameters[i]["default"] = "";
  }
  return {{"parameters", parameters}, {"call", call}, {"has_options", options.has_value()}};
}

/// Expressions whose keys decide where the call goes.
Json dispatch_arguments(const FunctionSchema& schema) {
  Json keys = Json::array();
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

Json emit_returns(const FunctionSchema& schema) {
  Json returns = Json::array();
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    const schema::Return& ret = schema.returns[i];
    returns.push_back({{"name", schema.return_name(i)},
                       {"is_tensor", ret.type.is_tensor()},
                       {"is_tensor_list", ret.type.is_tensor_list()},
                       {"is_mutable", ret.is_mutable()}});
  }
  return returns;
}

}  // namespace

std::string short_source(const Location& location) {
  if (!location.valid()) return "";
  const std::string& path = location.file->path();
  return path.substr(path.rfind('/') + 1);
}

Json emit_form(const Operator& op, const VariantSchema& form) {
  const FunctionSchema& schema = form.schema;
  Json arguments = Json::array();
  for (const Argument& argument : schema.args) arguments.push_back(emit_argument(argument));
  Json outs = Json::array();
  if (schema.is_out()) {
    for (const Argument* out : schema.out_args()) outs.push_back(out->name);
  }
  return {
      {"ident", cpp_identifier(schema)},
      {"name", schema.name},
      {"base", schema.base_name()},
      {"overload", schema.overload},
      {"namespace", schema.ns.empty() ? "aten" : schema.ns},
      {"schema", to_string(schema)},
      {"source", short_source(op.location)},
      {"file", op.location.file ? op.location.file->path() : ""},
      {"line", op.location.line},
      {"kind", schema::to_string(schema.kind())},
      {"derived", form.derived},
      {"method", form.method},
      {"function", form.function},
      {"arguments", arguments},
      {"api", emit_api(op, schema)},
      {"outs", outs},
      {"returns", emit_returns(schema)},
      {"return_type", cpp_return_type(schema)},
      {"keys", dispatch_arguments(schema)},
      {"is_view", schema.is_view()},
  };
}

Json output_names(const schema::FunctionSchema& schema) {
  Json names = Json::array();
  for (size_t i = 0; i < schema.returns.size(); ++i) {
    const std::string& name = schema.returns[i].name;
    names.push_back(!name.empty()                ? name
                    : schema.returns.size() == 1 ? "out"
                                                 : "out" + std::to_string(i));
  }
  return names;
}

}  // namespace tenon::codegen

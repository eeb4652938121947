#include "aten/dispatch/check_signature.h"

#include "codegen/schema/cpp_types.h"
#include "codegen/schema/printer.h"

namespace tenon::detail {
namespace {

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
}

/// As a user writes it: `std::optional<int64_t>`, `const Tensor&`.
std::string readable(std::string type) {
  replace_all(type, "::std::", "std::");
  replace_all(type, "tenon::", "");
  return type;
}

}  // namespace

void check_signature(const std::string& what, const schema::FunctionSchema& schema,
                     const CppSignature& signature) {
  const std::string text = "\n  " + schema::to_string(schema);
  TENON_CHECK_TYPE(signature.parameters.size() == schema.args.size(), what, ": the schema has ",
                   schema.args.size(), schema.args.size() == 1 ? " argument" : " arguments",
                   ", the function takes ", signature.parameters.size(), text);
  for (size_t i = 0; i < schema.args.size(); ++i) {
    const schema::Argument& argument = schema.args[i];
    const std::string wanted = schema::cpp_parameter_type(argument);
    TENON_CHECK_TYPE(signature.parameters[i] == wanted, what, ": argument ", i + 1, ", '",
                     argument.name, "', is ", schema::to_string(argument.type),
                     argument.alias ? schema::to_string(*argument.alias) : "",
                     " in the schema, so its C++ type is ", readable(wanted),
                     "; the function takes ", readable(signature.parameters[i]), text);
  }
  const std::string wanted = schema::cpp_return_type(schema);
  TENON_CHECK_TYPE(signature.result == wanted, what, ": the schema returns ",
                   schema::returns_to_string(schema.returns), ", which is ", readable(wanted),
                   " in C++; the function returns ", readable(signature.result), text);
}

}  // namespace tenon::detail

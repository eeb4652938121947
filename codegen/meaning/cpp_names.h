#pragma once

#include <optional>
#include <string>

#include "codegen/schema/cpp_types.h"

namespace tenon::codegen {

using schema::cpp_owned_type;
using schema::cpp_parameter_type;
using schema::cpp_return_type;

/// C++ text of a named constant: `long` of a ScalarType, `Mean`. Empty for what has no counterpart.
std::optional<std::string> cpp_constant(schema::BaseType base, const std::string& name);
/// C++ text of the argument's default, "" without one.
std::string cpp_default(const schema::Argument& argument);
/// C++ namespace of the operator's functions: `tenon`, unless the schema has its own.
std::string cpp_namespace(const schema::FunctionSchema& schema);
/// "add_Tensor": the operator's name as one identifier.
std::string cpp_identifier(const schema::FunctionSchema& schema);

}  // namespace tenon::codegen

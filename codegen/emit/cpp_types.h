#pragma once

#include <string>

#include "codegen/schema/function_schema.h"

namespace tenon::codegen {

/// C++ type of a parameter: `const Tensor&`, `IntArrayRef`, `std::optional<int64_t>`, ...
std::string cpp_parameter_type(const schema::Argument& argument);
/// C++ type that holds the argument's value: what a parameter refers to, owned.
std::string cpp_owned_type(const schema::Type& type);
/// C++ type of the results: `Tensor`, `Tensor&`, `std::tuple<Tensor, Tensor>`, `void`, ...
std::string cpp_return_type(const schema::FunctionSchema& schema);
/// C++ text of the argument's default, "" without one.
std::string cpp_default(const schema::Argument& argument);
/// "add_Tensor": the operator's name as one identifier.
std::string cpp_identifier(const schema::FunctionSchema& schema);

}  // namespace tenon::codegen

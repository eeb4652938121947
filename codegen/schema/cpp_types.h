#pragma once

#include <string>

#include "codegen/schema/function_schema.h"

// The C++ side of a schema: one spelling for the generator, which writes it, and for the library,
// which compares a kernel's signature with it at run time.
namespace tenon::schema {

/// C++ type of a parameter: `const tenon::Tensor&`, `tenon::IntArrayRef`,
/// `::std::optional<int64_t>`.
std::string cpp_parameter_type(const Argument& argument);
/// C++ type that holds the argument's value: what a parameter refers to, owned.
std::string cpp_owned_type(const Type& type);
/// C++ type of the results: `tenon::Tensor`, `tenon::Tensor&`, `::std::tuple<...>`, `void`.
std::string cpp_return_type(const FunctionSchema& schema);

}  // namespace tenon::schema

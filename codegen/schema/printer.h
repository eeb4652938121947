#pragma once

#include <string>

#include "codegen/schema/function_schema.h"

namespace tenon::schema {

/// Canonical spelling: `, ` between items, ` -> ` before the returns, no other space. A canonical
/// text parses and prints back byte for byte.
std::string to_string(const FunctionSchema& schema);
std::string to_string(const Argument& argument);
std::string to_string(const Return& ret);
std::string to_string(const Type& type);
/// With parentheses: "(a!)".
std::string to_string(const Alias& alias);
/// The returns as after the arrow: "Tensor", "(Tensor values, Tensor indices)", "()".
std::string returns_to_string(const std::vector<Return>& returns);

}  // namespace tenon::schema

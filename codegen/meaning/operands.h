#pragma once

#include <string>

#include "codegen/model/operator.h"

namespace tenon::codegen {

/// A number of an expression: Scalar, float, int, bool and their symbolic forms.
bool is_number(const schema::Type& type);

/// Whether the text of an expression has the name in it.
bool uses_name(const std::string& text, const std::string& name);

/// Whether an expression behind `part` has its value in it.
bool is_used_behind(const NamedExpressions& spec, size_t part, const std::string& name);

/// What to say of a part whose name nothing uses: how results are called that the schema does not
/// name, or where dtypes have expressions of their own; may be empty.
std::string hint_of_part(const std::string& name, const schema::FunctionSchema& schema);

}  // namespace tenon::codegen

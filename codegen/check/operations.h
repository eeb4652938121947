#pragma once

#include <optional>
#include <string_view>

#include "codegen/check/value_type.h"

// What operations between values of tensor code give, as C++ computes them.

namespace tenon::codegen {

/// Of `operation a`; nothing where it does not take the type.
std::optional<ValueType> unary_type(std::string_view operation, const ValueType& a);

/// Of `a operation b`, `/` being true division. Conditions of `&&` and `||` are is_condition()'s.
std::optional<ValueType> binary_type(std::string_view operation, const ValueType& a,
                                     const ValueType& b);

/// The one type of `c ? a : b`; nothing where C++ finds none.
std::optional<ValueType> choice_type(const ValueType& a, const ValueType& b);

/// C++ tells whether it holds: a number, or an optional, which holds where it is not absent.
bool is_condition(const ValueType& type);

/// A function of std, called by its name without `std::`, of values of these types: what it gives,
/// nothing where it does not take them.
std::optional<ValueType> std_call(std::string_view function,
                                  const std::vector<ValueType>& arguments);
/// Their names, sorted.
const std::vector<std::string>& std_functions();

}  // namespace tenon::codegen

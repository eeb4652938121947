#pragma once

#include <set>
#include <string>
#include <string_view>

namespace tenon::codegen {

/// What is known of the names in a C++ text.
struct TensorNames {
  std::set<std::string> functions;  ///< functions and methods that return a tensor
  std::set<std::string> variables;
  std::set<std::string> lists;  ///< variables that hold several tensors
};

/// Adds the functions that the text declares to return a tensor.
void add_functions(std::string_view text, TensorNames& names);
/// Adds the members and constants that are tensors, of a text without the bodies of functions.
void add_members(std::string_view text, TensorNames& names);

/// C++ operators other than + - * / that the text may apply to tensors, by the functions that they
/// call ("lt", "select").
/// An operand is taken for a tensor by the name that gives its value: a variable, or the last
/// function or method called.
std::set<std::string> tensor_operators(std::string_view text, const TensorNames& names);

/// What + - * / call, with their in-place forms.
std::set<std::string> arithmetic_functions();

}  // namespace tenon::codegen

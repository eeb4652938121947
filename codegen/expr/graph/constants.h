#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen::expr {

/// A number that every expression may use by its name, where nothing else has it.
struct NamedConstant {
  std::string_view name;
  double value;
  std::string_view cpp;  ///< the same in C++
};

/// inf, nan, pi and e.
std::span<const NamedConstant> named_constants();
std::vector<std::string> constant_names();
/// Null where there is none of the name.
const NamedConstant* find_named_constant(std::string_view name);

}  // namespace tenon::codegen::expr

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen::expr {

/// A function of the expression language defined by an expression over its parameters, expanded
/// where it is called: `silu(x) := x * sigmoid(x)`. `tensor_op` semantics follow from the body.
struct Macro {
  std::string name;
  std::vector<std::string> parameters;
  std::string body;
};

/// The built-in macros (silu, gelu, softplus, clamp, ...), sorted by name.
const std::vector<Macro>& builtin_macros();

/// The built-in macro named `name`, or null.
const Macro* find_macro(std::string_view name);

}  // namespace tenon::codegen::expr

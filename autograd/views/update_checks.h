#pragma once

#include <optional>

#include "tenon/tensor.h"

namespace tenon::autograd {

/// Throws if argument `name` of the operator, which has no derivative and writes its arguments,
/// requires a gradient.
TENON_API void check_needs_no_grad(const char* op, const char* name, const Tensor& argument);
TENON_API void check_needs_no_grad(const char* op, const char* name,
                                   const std::optional<Tensor>& argument);

}  // namespace tenon::autograd

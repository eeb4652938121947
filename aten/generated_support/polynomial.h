#pragma once

#include <initializer_list>

#include "tenon/tensor.h"

namespace tenon::native {

/// ((c0 * x + c1) * x + c2) ..., made of operators (Horner's scheme), so that it can be
/// differentiated. Of at least two numbers.
TENON_API Tensor polynomial(const Tensor& x, std::initializer_list<double> numbers);

}  // namespace tenon::native

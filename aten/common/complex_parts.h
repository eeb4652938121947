#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::native {

/// The real and the imaginary parts of a complex tensor: real tensors over the same memory, which
/// autograd does not know.
struct ComplexParts {
  TensorBase real, imag;
};
ComplexParts complex_parts(const TensorBase& t);

}  // namespace tenon::native

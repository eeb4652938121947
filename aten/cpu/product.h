#pragma once

#include "aten/common/matrix_batch.h"
#include "aten/core/scalar.h"

namespace tenon::native {

/// out = alpha * a @ b + beta * out + bias for every dtype but Bool, bias [n] contiguous or null.
/// Strides are arbitrary; `out` is not read when beta is 0. Half types accumulate in float,
/// integers wrap around. NotImplementedError "[op] is not implemented for Bool".
void matrix_product(const char* op, ScalarType dtype, ProductSizes sizes, const Scalar& alpha,
                    MatrixBatch a, MatrixBatch b, const Scalar& beta, MatrixBatch out,
                    const void* bias = nullptr);

}  // namespace tenon::native

#pragma once

#include "aten/common/matrix_batch.h"
#include "aten/core/scalar.h"

struct CUstream_st;

namespace tenon::cuda {

using native::MatrixBatch;
using native::ProductSizes;

/// out = alpha * a @ b + beta * out + bias for every dtype but Bool, bias [n] contiguous or null,
/// on the current stream of `device`. `out` is not read when beta is 0. Half types accumulate in
/// float, float in float (not TF32, unless allowed), integers wrap around. Floating-point and
/// complex types by cuBLASLt. NotImplementedError "[op] is not implemented for Bool".
void matrix_product(const char* op, ScalarType dtype, ProductSizes sizes, const Scalar& alpha,
                    MatrixBatch a, MatrixBatch b, const Scalar& beta, MatrixBatch out,
                    Device device, const void* bias = nullptr);

/// Whether products of float may round their operands to TF32, which is faster; not at first.
TENON_API bool allow_tf32();
TENON_API void set_allow_tf32(bool allow);

namespace detail {

/// The product by cuBLASLt; false if it has no algorithm for these operands, whose strides it must
/// be able to take as a row-major or a column-major matrix.
bool cublaslt_product(ScalarType dtype, ProductSizes sizes, const Scalar& alpha, MatrixBatch a,
                      MatrixBatch b, const Scalar& beta, MatrixBatch out, const void* bias,
                      Device device, CUstream_st* stream);

}  // namespace detail
}  // namespace tenon::cuda

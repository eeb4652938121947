#pragma once

#include "aten/core/scalar.h"
#include "aten/core/tensor_base.h"

namespace tenon::native {

/// The matrices of a batch: element (i, j) of matrix l is data[l * batch + i * row + j * col].
struct MatrixBatch {
  void* data;
  int64_t batch;
  int64_t row;
  int64_t col;

  MatrixBatch transposed() const { return {data, batch, col, row}; }
};

/// A tensor's last two dimensions, with the third last, if any, as the batch.
MatrixBatch matrices_of(const TensorBase& t);
/// Rows of a contiguous block.
inline MatrixBatch row_major(void* data, int64_t columns) { return {data, 0, columns, 1}; }

/// Sizes of a batched product: a [batch, m, k], b [batch, k, n], out [batch, m, n].
struct ProductSizes {
  int64_t batch, m, n, k;
};

/// out = alpha * a @ b + beta * out + bias for every dtype but Bool, bias [n] contiguous or null.
/// Strides are arbitrary; `out` is not read when beta is 0. Half types accumulate in float,
/// integers wrap around. NotImplementedError "[op] is not implemented for Bool".
void matrix_product(const char* op, ScalarType dtype, ProductSizes sizes, const Scalar& alpha,
                    MatrixBatch a, MatrixBatch b, const Scalar& beta, MatrixBatch out,
                    const void* bias = nullptr);

/// `t` itself if it is row-major, else a row-major copy.
TensorBase as_contiguous(const TensorBase& t);

}  // namespace tenon::native

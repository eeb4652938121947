#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::native {

/// The matrices of a batch: element (i, j) of matrix l is data[l * batch + i * row + j * col].
struct MatrixBatch {
  void* data;
  int64_t batch, row, col;

  MatrixBatch transposed() const { return {data, batch, col, row}; }
};

/// A tensor's last two dimensions, with the third last, if any, as the batch.
inline MatrixBatch matrices_of(const TensorBase& t) {
  const int64_t d = t.dim();
  return {t.mutable_data_ptr(), d > 2 ? t.stride(d - 3) : 0, t.stride(d - 2), t.stride(d - 1)};
}

/// A contiguous matrix.
inline MatrixBatch contiguous_matrix(void* data, int64_t columns) { return {data, 0, columns, 1}; }

/// Sizes of a batched product: a [batch, m, k], b [batch, k, n], out [batch, m, n].
struct ProductSizes {
  int64_t batch, m, n, k;
};

}  // namespace tenon::native

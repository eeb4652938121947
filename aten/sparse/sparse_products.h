#pragma once

#include "tenon/tensor.h"

/// Products of matrices by rows. Half types are computed in float, integers in int64.
namespace tenon::sparse {

/// The rows of a sparse matrix, as CSR has them.
struct Rows {
  Tensor starts;   ///< int64 [rows + 1]
  Tensor columns;  ///< int64 [nnz]
  Tensor values;   ///< [nnz]
};

/// Of a sparse matrix of any layout.
Rows rows_of(const Tensor& t);
/// a @ b of a strided b, [*, width]; a has its dtype.
Tensor multiply(const Rows& a, int64_t num_rows, const Tensor& b);
/// a @ b of matrices that have the same dtype.
Rows multiply_rows(const Rows& a, int64_t num_rows, const Rows& b, int64_t num_columns);
/// mat1[r] . mat2[:, c] for each column (r, c) of indices [2, nnz].
Tensor sampled_product(const Tensor& indices, const Tensor& mat1, const Tensor& mat2);

}  // namespace tenon::sparse

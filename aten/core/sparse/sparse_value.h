#pragma once

#include "aten/core/tensor_impl.h"

namespace tenon {

/// What makes a tensor a sparse one: the places of the elements that are kept, and the elements.
/// The other elements are zero.
struct SparseValue {
  /// COO: int64 [sparse_dim, nnz], the place of each element. Compressed: where each row (CSR, BSR)
  /// or column (CSC, BSC) starts among the elements, [*batch, rows + 1].
  IntrusivePtr<TensorImpl> indices;
  /// Compressed alone: the column or row of each element, [*batch, nnz].
  IntrusivePtr<TensorImpl> plain_indices;
  /// The elements: [nnz, *dense sizes], compressed [*batch, nnz, *block, *dense sizes].
  IntrusivePtr<TensorImpl> values;
  int64_t sparse_dim = 0;  ///< how many leading dimensions are sparse (after the batch's)
  int64_t dense_dim = 0;   ///< how many trailing dimensions the elements have
  /// COO: each place occurs once, in ascending order.
  bool coalesced = false;
};

void destroy_sparse_value(SparseValue* value) noexcept;

}  // namespace tenon

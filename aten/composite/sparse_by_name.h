#pragma once

#include "tenon/tensor.h"

/// Sparse tensors whose operators are found by name: a library of selected operators need not have
/// them.
namespace tenon::native {

/// The COO tensor of these indices [sparse dimensions, nnz], values and sizes.
Tensor sparse_gradient(const Tensor& indices, const Tensor& values, IntArrayRef sizes);

/// A tensor of a sparse layout without elements.
Tensor empty_sparse(IntArrayRef sizes, std::optional<ScalarType> dtype, Layout layout,
                    std::optional<Device> device);

}  // namespace tenon::native

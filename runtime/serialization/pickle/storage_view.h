#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::serialization {

/// What a file may say a tensor has, as in PyTorch.
inline constexpr size_t kMaxDims = 64;

/// All of a storage as a one-dimensional tensor of as many whole elements as it has.
TENON_API TensorBase view_storage(const Storage& storage, ScalarType dtype);

/// A tensor of this geometry, in elements, over a storage; ValueError for one that leaves it.
TENON_API TensorBase tensor_over(const Storage& storage, ScalarType dtype, int64_t offset,
                                 IntArrayRef sizes, IntArrayRef strides);

/// Uninitialised memory on a device; on Meta none.
TENON_API Storage make_storage(uint64_t bytes, Device device);

}  // namespace tenon::serialization

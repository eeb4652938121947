#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::native {

/// The dimensions as bits of a mask, wrapped; none means all. Error "dim 0 appears multiple times
/// in the list of dims". At most 64 dimensions.
inline uint64_t dim_mask(const char* op, OptionalIntArrayRef dims, int64_t rank,
                         bool none_means_all = true) {
  TENON_CHECK(rank <= 64, "[", op, "] only tensors with up to 64 dims are supported, got ", rank);
  if (!dims || (dims->empty() && none_means_all)) {
    return rank == 64 ? ~uint64_t{0} : (uint64_t{1} << rank) - 1;
  }
  uint64_t mask = 0;
  for (int64_t d : *dims) {
    const uint64_t bit = uint64_t{1} << wrap_dim(d, rank);
    TENON_CHECK(!(mask & bit), "[", op, "] dim ", wrap_dim(d, rank),
                " appears multiple times in the list of dims");
    mask |= bit;
  }
  return rank == 0 ? 0 : mask;
}

/// Sizes after a reduction over the dimensions of the mask.
inline DimVector reduced_sizes(IntArrayRef sizes, uint64_t mask, bool keepdim) {
  DimVector result;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!((mask >> i) & 1)) {
      result.push_back(sizes[i]);
    } else if (keepdim) {
      result.push_back(1);
    }
  }
  return result;
}

/// `shape` with its -1, if any, replaced by what `numel` elements leave for it. Errors as
/// PyTorch's: "shape '[7]' is invalid for input of size 6".
TENON_API DimVector infer_size(const char* op, IntArrayRef shape, int64_t numel);

/// Strides that show a tensor of these sizes and strides as `shape` (same number of elements), or
/// nothing if that takes a copy.
TENON_API std::optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides,
                                                IntArrayRef shape);

}  // namespace tenon::native

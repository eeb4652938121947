#pragma once

#include <optional>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::native {

/// What `self[indices]` shows, as loops over three groups of dimensions: those before the block
/// that the index tensors span, the block, those after it. The element at (i, b, j) of the result
/// is self's at the offset of i, plus that of j, plus the sum over the index tensors of index[b] *
/// step.
struct IndexPlan {
  struct Index {
    TensorBase at;   ///< int64, of the block's sizes; negative values count from the end
    int64_t dim;     ///< of self
    int64_t length;  ///< self's size there
    int64_t step;    ///< self's stride there, in elements
  };
  std::vector<Index> indices;
  DimVector sizes;    ///< of the result
  DimVector strides;  ///< of self along the result's dimensions, in elements; 0 in the block
  size_t before = 0;  ///< how many dimensions lie before the block
  size_t block = 0;   ///< how many it has
  /// No element is shown twice, whatever the values of the indices.
  bool distinct = false;

  IntArrayRef before_sizes() const { return IntArrayRef(sizes).slice(0, before); }
  IntArrayRef block_sizes() const { return IntArrayRef(sizes).slice(before, block); }
  IntArrayRef after_sizes() const { return IntArrayRef(sizes).slice(before + block); }
  /// Of a new result: dense, in the order in which self and the indices lie in memory.
  DimVector result_strides(const TensorBase& self) const;
};

/// Checks the indices and brings them to one shape. Index k stands for dimension k of self, a bool
/// or uint8 mask for as many as it has; an absent one takes the whole dimension. The block stands
/// where the indexed dimensions were if they are adjacent, and in front otherwise. IndexError:
/// "[op] too many indices for tensor of dimension 2 (got 3)", "[op] tensors used as indices must be
/// long, int, byte or bool tensors, got Float", "[op] The shape of the mask [2] at index 0 does not
/// match the shape of the indexed tensor [3, 4] at index 0", "[op] shape mismatch: indexing tensors
/// could not be broadcast together with shapes [2], [3]", "[op] at least one index must be
/// provided". NotImplementedError for a mask on the meta device, whose number of elements is not
/// known.
IndexPlan plan_index(const char* op, const TensorBase& self,
                     ArrayRef<std::optional<Tensor>> indices);

/// `values` as index_put_ writes them: broadcast to the plan's sizes, on self's device, and apart
/// from self's memory. "[index_put_] shape mismatch: value tensor of shape [3] cannot be broadcast
/// to indexing result of shape [2, 4]"; IndexError "[index_put_] Index put requires the source and
/// destination dtypes match, got Float for the destination and Long for the source."
TensorBase index_put_values(const IndexPlan& plan, const TensorBase& self, const Tensor& values);

/// IndexError "[op] index 5 is out of bounds for dimension 0 with size 3".
[[noreturn]] void throw_index_out_of_bounds(const char* op, int64_t at, int64_t dim,
                                            int64_t length);

}  // namespace tenon::native

#pragma once

#include "aten/core/tensor_base.h"
#include "aten/cpu/index_range.h"

namespace tenon::native {

/// Walks over all elements of `index`: f(place in index, start of the row in other, index value),
/// where a row is the elements of `other` along dim, `step` apart.
class IndexWalk {
 public:
  IndexWalk(IntArrayRef index_sizes, IntArrayRef other_sizes, int64_t dim)
      : sizes_(at_least_one_dim(index_sizes)),
        strides_(contiguous_strides(at_least_one_dim(other_sizes))), dim_(dim) {
    step_ = strides_[dim_];
    inner_ = sizes_.back();
    inner_stride_ = dim_ + 1 == static_cast<int64_t>(sizes_.size()) ? 0 : strides_.back();
  }
  int64_t step() const { return step_; }
  int64_t inner() const { return inner_; }
  int64_t inner_stride() const { return inner_stride_; }
  int64_t outer() const {
    int64_t n = 1;
    for (size_t i = 0; i + 1 < sizes_.size(); ++i) n *= sizes_[i];
    return n;
  }
  /// Offset in other, without the indexed dimension, of the o-th innermost run.
  int64_t offset(int64_t o) const {
    int64_t result = 0;
    for (auto i = static_cast<int64_t>(sizes_.size()) - 1; i-- > 0;) {
      if (i != dim_) result += o % sizes_[i] * strides_[i];
      o /= sizes_[i];
    }
    return result;
  }

 private:
  static IntArrayRef at_least_one_dim(IntArrayRef sizes) {
    static constexpr int64_t kOne[] = {1};
    return sizes.empty() ? IntArrayRef(kOne) : sizes;
  }

  DimVector sizes_;
  DimVector strides_;
  int64_t dim_;
  int64_t step_;
  int64_t inner_;
  int64_t inner_stride_;
};

/// Error "[gather] index 3 is out of bounds for dimension 0 with size 3".
inline void check_indices(const char* op, const int64_t* index, int64_t n, int64_t length,
                          int64_t dim) {
  if (TENON_LIKELY(all_in_range(index, n, length))) return;
  for (int64_t i = 0; i < n; ++i) {
    TENON_CHECK(index[i] >= 0 && index[i] < length, "[", op, "] index ", index[i],
                " is out of bounds for dimension ", dim, " with size ", length);
  }
}

}  // namespace tenon::native

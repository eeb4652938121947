#include "tenon/native/select.h"

#include <algorithm>

#include "tenon/native/slice.h"
#include "tenon/ops/slice.h"

namespace tenon {

Tensor native::select(const Tensor& self, int64_t dim, int64_t index) {
  const int64_t rank = self.dim();
  TENON_CHECK_INDEX(rank > 0, "[select] select() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, rank);
  const int64_t size = self.sizes()[d];
  TENON_CHECK_INDEX(index >= -size && index < size, "[select] index ", index,
                    " is out of bounds for dimension ", d, " with size ", size);
  const int64_t at = index < 0 ? index + size : index;
  DimVector sizes;
  DimVector strides;
  sizes.resize_uninitialized(static_cast<size_t>(rank - 1));
  strides.resize_uninitialized(static_cast<size_t>(rank - 1));
  for (int64_t i = 0; i + 1 < rank; ++i) {
    const int64_t from = i < d ? i : i + 1;
    sizes[i] = self.sizes()[from];
    strides[i] = self.strides()[from];
  }
  return make_view(self, sizes, strides, self.storage_offset() + at * self.strides()[d]);
}

/// Python's slice rule: start and end count from the end when negative and are clamped to the size.
Tensor native::slice(const Tensor& self, int64_t dim, std::optional<int64_t> start,
                     std::optional<int64_t> end, int64_t step) {
  TENON_CHECK_INDEX(self.dim() > 0, "[slice] slice() cannot be applied to a 0-dim tensor.");
  const int64_t d = wrap_dim(dim, self.dim());
  TENON_CHECK(step > 0, "[slice] slice step must be positive, got ", step);
  const int64_t size = self.sizes()[d];
  const auto clamped = [size](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const int64_t from = clamped(start.value_or(0));
  const int64_t to = end ? std::max(from, clamped(*end)) : size;
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  sizes[d] = (to - from) / step + ((to - from) % step != 0);
  // A step that overflows leaves one element, whose stride does not matter.
  if (__builtin_mul_overflow(self.strides()[d], step, &strides[d])) strides[d] = self.strides()[d];
  return make_view(self, sizes, strides, self.storage_offset() + from * self.strides()[d]);
}

}  // namespace tenon

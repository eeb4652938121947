#include "tenon/native/as_strided.h"

#include "aten/composite/show_as.h"
#include "tenon/native/alias.h"
#include "tenon/native/diagonal.h"
#include "tenon/native/unfold.h"

#include <algorithm>

namespace tenon {

Tensor native::as_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                          std::optional<int64_t> storage_offset) {
  TENON_CHECK(size.size() == stride.size(),
              "[as_strided] mismatch in length of strides and shape, got sizes ", size,
              " and strides ", stride);
  for (int64_t s : size) {
    TENON_CHECK(s >= 0, "[as_strided] sizes must not be negative, got sizes: ", size);
  }
  for (int64_t s : stride) {
    TENON_CHECK(
        s >= 0,
        "[as_strided] Negative strides are not supported at the moment, got strides: ", stride);
  }
  numel_of(size);
  return make_view(self, size, stride, storage_offset.value_or(self.storage_offset()));
}

Tensor& native::as_strided_(Tensor& self, IntArrayRef size, IntArrayRef stride,
                            std::optional<int64_t> storage_offset) {
  return show_as(self, native::as_strided(self, size, stride, storage_offset));
}

Tensor native::alias(const Tensor& self) {
  return make_view(self, self.sizes(), self.strides(), self.storage_offset());
}

/// [..., N1, ..., N2, ...] -> [..., D]: the elements with i2 = i1 + offset; dim1 and dim2 become
/// one last dimension.
Tensor native::diagonal(const Tensor& self, int64_t offset, int64_t dim1, int64_t dim2) {
  const int64_t a = wrap_dim(dim1, self.dim());
  const int64_t b = wrap_dim(dim2, self.dim());
  TENON_CHECK(a != b, "[diagonal] diagonal dimensions cannot be identical ", dim1, ", ", dim2);
  const int64_t rows = self.sizes()[a] + std::min<int64_t>(offset, 0);
  const int64_t columns = self.sizes()[b] - std::max<int64_t>(offset, 0);
  const int64_t length = std::max<int64_t>(std::min(rows, columns), 0);
  int64_t start = self.storage_offset();
  if (length > 0) start += offset >= 0 ? offset * self.strides()[b] : -offset * self.strides()[a];
  DimVector sizes;
  DimVector strides;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i == a || i == b) continue;
    sizes.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  sizes.push_back(length);
  strides.push_back(self.strides()[a] + self.strides()[b]);
  return make_view(self, sizes, strides, start);
}

/// [..., N, ...] -> [..., (N - size) / step + 1, ..., size]: windows over one dimension.
Tensor native::unfold(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  const int64_t d = wrap_dim(dimension, self.dim());
  const int64_t length = self.dim() == 0 ? 1 : self.sizes()[d];
  TENON_CHECK(size >= 0, "[unfold] size is ", size, " but must be >= 0");
  TENON_CHECK(size <= length, "[unfold] maximum size for tensor at dimension ", d, " is ", length,
              " but size is ", size);
  TENON_CHECK(step > 0, "[unfold] step is ", step, " but must be > 0");
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  const int64_t stride = self.dim() == 0 ? 1 : strides[d];
  if (self.dim() > 0) {
    sizes[d] = (length - size) / step + 1;
    // A step that overflows leaves one window, whose stride does not matter.
    if (__builtin_mul_overflow(step, stride, &strides[d])) strides[d] = stride;
  }
  sizes.push_back(size);
  strides.push_back(stride);
  return make_view(self, sizes, strides, self.storage_offset());
}

}  // namespace tenon

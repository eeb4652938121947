#include "tenon/native/squeeze.h"

#include "aten/common/dims.h"
#include "aten/composite/show_as.h"
#include "tenon/native/unsqueeze.h"

namespace tenon {
namespace {

/// Leaves out the dimensions of size 1 that the mask names.
Tensor without(const Tensor& self, uint64_t mask) {
  DimVector sizes;
  DimVector strides;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (((mask >> i) & 1) && self.sizes()[i] == 1) continue;
    sizes.push_back(self.sizes()[i]);
    strides.push_back(self.strides()[i]);
  }
  return make_view(self, sizes, strides, self.storage_offset());
}

}  // namespace

Tensor native::squeeze(const Tensor& self) { return without(self, ~uint64_t{0}); }

Tensor native::squeeze_dim(const Tensor& self, int64_t dim) {
  return without(self, uint64_t{1} << wrap_dim(dim, self.dim()));
}

Tensor native::squeeze_dims(const Tensor& self, IntArrayRef dim) {
  return without(self, dim_mask("squeeze", dim, self.dim(), false));
}

Tensor native::unsqueeze(const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim() + 1);
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  const int64_t stride = d < self.dim() ? sizes[d] * strides[d] : 1;
  sizes.insert(sizes.begin() + d, 1);
  strides.insert(strides.begin() + d, stride);
  return make_view(self, sizes, strides, self.storage_offset());
}

Tensor& native::squeeze_(Tensor& self) { return show_as(self, native::squeeze(self)); }

Tensor& native::squeeze_dim_(Tensor& self, int64_t dim) {
  return show_as(self, native::squeeze_dim(self, dim));
}

Tensor& native::squeeze_dims_(Tensor& self, IntArrayRef dim) {
  return show_as(self, native::squeeze_dims(self, dim));
}

Tensor& native::unsqueeze_(Tensor& self, int64_t dim) {
  return show_as(self, native::unsqueeze(self, dim));
}

}  // namespace tenon

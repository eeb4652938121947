#include "tenon/native/split.h"

#include <algorithm>

#include "tenon/native/chunk.h"
#include "tenon/native/split_with_sizes.h"
#include "tenon/native/unbind.h"
#include "tenon/ops/split.h"
#include "tenon/ops/split_with_sizes.h"

namespace tenon {
namespace {

/// One of several views that one call returns, which may not be changed in place while recorded.
Tensor part(const Tensor& self, IntArrayRef sizes, IntArrayRef strides, int64_t offset) {
  TensorBase view = make_view(self, sizes, strides, offset);
  view.unsafe_impl()->creation_meta = CreationMeta::MultiOutput;
  return view;
}

}  // namespace

std::vector<Tensor> native::split_with_sizes(const Tensor& self, IntArrayRef split_sizes,
                                             int64_t dim) {
  TENON_CHECK(self.dim() > 0, "[split_with_sizes] split expects at least a 1-dimensional tensor");
  const int64_t d = wrap_dim(dim, self.dim());
  const int64_t size = self.sizes()[d];
  int64_t total = 0;
  bool fits = true;
  for (int64_t s : split_sizes) {
    TENON_CHECK(s >= 0,
                "[split_with_sizes] split_with_sizes expects split_sizes have only non-negative "
                "entries, but got split_sizes=",
                split_sizes);
    fits &= s <= size - total;
    if (fits) total += s;
  }
  TENON_CHECK(fits && total == size,
              "[split_with_sizes] split_with_sizes expects split_sizes to sum exactly to ", size,
              " (input tensor's size at dimension ", d, "), but got split_sizes=", split_sizes);
  std::vector<Tensor> parts;
  parts.reserve(split_sizes.size());
  DimVector sizes(self.sizes());
  int64_t offset = self.storage_offset();
  for (int64_t s : split_sizes) {
    sizes[d] = s;
    parts.push_back(part(self, sizes, self.strides(), offset));
    offset += s * self.strides()[d];
  }
  return parts;
}

std::vector<Tensor> native::split(const Tensor& self, int64_t split_size, int64_t dim) {
  TENON_CHECK(self.dim() > 0, "[split] split expects at least a 1-dimensional tensor");
  TENON_CHECK(split_size >= 0,
              "[split] split expects split_size be non-negative, but got split_size=", split_size);
  const int64_t size = self.size(dim);
  TENON_CHECK(split_size > 0 || size == 0,
              "[split] split_size can only be 0 if dimension size is 0, "
              "but got dimension size of ",
              size);
  const int64_t count =
      split_size == 0 ? 1 : std::max<int64_t>(size / split_size + (size % split_size != 0), 1);
  DimVector sizes(static_cast<size_t>(count), split_size);
  sizes.back() = size - (count - 1) * split_size;
  return native::split_with_sizes(self, sizes, dim);
}

std::vector<Tensor> native::chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  TENON_CHECK(self.dim() > 0, "[chunk] chunk expects at least a 1-dimensional tensor");
  TENON_CHECK(chunks > 0, "[chunk] chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int64_t size = self.size(dim);
  const int64_t each = size / chunks + (size % chunks != 0);
  if (each == 0) {
    // Of an empty dimension as many empty chunks are made as were asked for.
    return ops::split_with_sizes::call(self, DimVector(static_cast<size_t>(chunks), 0), dim);
  }
  return ops::split_Tensor::call(self, each, dim);
}

std::vector<Tensor> native::unbind(const Tensor& self, int64_t dim) {
  TENON_CHECK_INDEX(self.dim() > 0, "[unbind] Dimension specified as ", dim,
                    " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim, self.dim());
  DimVector sizes(self.sizes());
  DimVector strides(self.strides());
  const int64_t count = sizes[d];
  const int64_t step = strides[d];
  sizes.erase(sizes.begin() + d);
  strides.erase(strides.begin() + d);
  std::vector<Tensor> parts;
  parts.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    parts.push_back(part(self, sizes, strides, self.storage_offset() + i * step));
  }
  return parts;
}

}  // namespace tenon

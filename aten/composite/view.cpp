#include "tenon/native/view.h"

#include "aten/common/dims.h"
#include "tenon/native/_unsafe_view.h"
#include "tenon/native/reshape.h"
#include "tenon/ops/_unsafe_view.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/view.h"

namespace tenon {

Tensor native::view(const Tensor& self, IntArrayRef size) {
  const DimVector sizes = infer_size("view", size, self.numel());
  if (TENON_LIKELY(self.is_contiguous())) return make_contiguous_view(self, sizes);
  const auto strides = view_strides(self.sizes(), self.strides(), sizes);
  TENON_CHECK(
      strides,
      "[view] view size is not compatible with input tensor's size and stride (at least one "
      "dimension spans across two contiguous subspaces). Use .reshape(...) instead.");
  return make_view(self, sizes, *strides, self.storage_offset());
}

/// A view that autograd treats as a tensor of its own: for callers that have just made `self`.
Tensor native::_unsafe_view(const Tensor& self, IntArrayRef size) {
  const DimVector sizes = infer_size("_unsafe_view", size, self.numel());
  const auto strides = view_strides(self.sizes(), self.strides(), sizes);
  TENON_CHECK(strides, "[_unsafe_view] sizes ", size, " need a copy of a tensor with sizes ",
              self.sizes(), " and strides ", self.strides());
  TensorBase result = make_detached(self);
  result.unsafe_impl()->set_sizes_and_strides(sizes, *strides);
  return result;
}

Tensor native::reshape(const Tensor& self, IntArrayRef shape) {
  const DimVector sizes = infer_size("reshape", shape, self.numel());
  if (self.is_contiguous() || view_strides(self.sizes(), self.strides(), sizes)) {
    return ops::view::call(self, sizes);
  }
  return ops::_unsafe_view::call(ops::clone::call(self, MemoryFormat::Contiguous), sizes);
}

}  // namespace tenon

#include "tenon/native/max_pool2d_with_indices_backward.h"

#include "aten/meta/pooling.h"

namespace tenon {

/// The shape of `self`. The windows are in `indices`; their geometry is not needed again.
TensorSpec native::max_pool2d_with_indices_backward_meta(const Tensor& grad_output,
                                                         const Tensor& self, IntArrayRef,
                                                         IntArrayRef, IntArrayRef, IntArrayRef,
                                                         bool, const Tensor& indices) {
  TENON_CHECK(
      self.dim() >= 2 && grad_output.dim() == self.dim() && grad_output.sizes() == indices.sizes(),
      "[max_pool2d_with_indices_backward] grad_output and indices need the same shape, of as many ",
      "dimensions as self, got ", grad_output.sizes(), ", ", indices.sizes(), " and ",
      self.sizes());
  TENON_CHECK(indices.scalar_type() == kLong,
              "[max_pool2d_with_indices_backward] expected int64 indices, got ",
              indices.scalar_type());
  TENON_CHECK(grad_output.scalar_type() == self.scalar_type(),
              "[max_pool2d_with_indices_backward] expected dtype ", self.scalar_type(),
              " for `grad_output` but got dtype ", grad_output.scalar_type());
  for (int64_t d = 0; d < self.dim() - 2; ++d) {
    TENON_CHECK(self.size(d) == grad_output.size(d),
                "[max_pool2d_with_indices_backward] grad_output ", grad_output.sizes(),
                " does not belong to an input of shape ", self.sizes());
  }
  return TensorSpec(self.sizes(), meta::strides_like(self, self.sizes()), self.scalar_type(),
                    self.device());
}

}  // namespace tenon

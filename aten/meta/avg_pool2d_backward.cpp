#include "tenon/native/avg_pool2d_backward.h"

#include "aten/meta/checks.h"
#include "aten/meta/pooling.h"

namespace tenon {

/// The shape of `self`.
TensorSpec native::avg_pool2d_backward_meta(const Tensor& grad_output, const Tensor& self,
                                            IntArrayRef kernel_size, IntArrayRef stride,
                                            IntArrayRef padding, bool ceil_mode, bool,
                                            std::optional<int64_t> divisor_override) {
  TENON_CHECK(!divisor_override || *divisor_override != 0,
              "[avg_pool2d_backward] divisor must be not zero");
  const meta::Pool2d p =
      meta::pool2d("avg_pool2d_backward", self, kernel_size, stride, padding, 1, ceil_mode);
  const DimVector sizes = meta::plane_sizes(self, p.out_h, p.out_w);
  TENON_CHECK(grad_output.sizes() == IntArrayRef(sizes),
              "[avg_pool2d_backward] Expected grad_output of shape ", sizes, ", but got ",
              grad_output.sizes());
  meta::check_same("avg_pool2d_backward", "grad_output", grad_output, "self", self);
  return TensorSpec(self.sizes(), meta::strides_like(self, self.sizes()), self.scalar_type(),
                    self.device());
}

}  // namespace tenon

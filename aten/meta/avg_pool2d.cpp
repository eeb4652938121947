#include "tenon/native/avg_pool2d.h"

#include "aten/meta/pooling.h"

namespace tenon {

/// [N, C, H, W] or [C, H, W] -> the mean of every window.
TensorSpec native::avg_pool2d_meta(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                                   IntArrayRef padding, bool ceil_mode, bool,
                                   std::optional<int64_t> divisor_override) {
  TENON_CHECK(!divisor_override || *divisor_override != 0, "[avg_pool2d] divisor must be not zero");
  self.size(-3);  // IndexError of fewer dimensions, as PyTorch's
  const meta::Pool2d p =
      meta::pool2d("avg_pool2d", self, kernel_size, stride, padding, 1, ceil_mode);
  const DimVector sizes = meta::plane_sizes(self, p.out_h, p.out_w);
  return TensorSpec(sizes, meta::strides_like(self, sizes), self.scalar_type(), self.device());
}

}  // namespace tenon

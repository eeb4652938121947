#include "tenon/native/max_pool2d_with_indices.h"

#include "aten/meta/pooling.h"

namespace tenon {

/// [N, C, H, W] or [C, H, W] -> the maxima and, as Long, their positions in the H x W plane.
std::array<TensorSpec, 2>
native::max_pool2d_with_indices_meta(const Tensor& self, IntArrayRef kernel_size,
                                     IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                                     bool ceil_mode) {
  const meta::Pool2d p =
      meta::pool2d("max_pool2d", self, kernel_size, stride, padding, dilation, ceil_mode);
  const DimVector sizes = meta::plane_sizes(self, p.out_h, p.out_w),
                  strides = meta::strides_like(self, sizes);
  return {TensorSpec(sizes, strides, self.scalar_type(), self.device()),
          TensorSpec(sizes, strides, kLong, self.device())};
}

}  // namespace tenon

#include "tenon/native/max_pool2d.h"

#include "tenon/ops/max_pool2d_with_indices.h"

namespace tenon {

Tensor native::max_pool2d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                          IntArrayRef padding, IntArrayRef dilation, bool ceil_mode) {
  return std::get<0>(
      max_pool2d_with_indices(self, kernel_size, stride, padding, dilation, ceil_mode));
}

}  // namespace tenon

#include "custom/native/rms_scale_backward.h"

namespace custom {

/// With r = 1 / sqrt(mean(self^2) + eps) and h = grad * weight: r h - self r^3 mean(h self) for
/// self, and the sum over rows of grad self r for the weight.
std::tuple<tenon::Tensor, tenon::Tensor>
native::rms_scale_backward(const tenon::Tensor& grad, const tenon::Tensor& self,
                           const tenon::Tensor& weight, double eps,
                           std::array<bool, 2> output_mask) {
  const tenon::Tensor r = (self * self).mean(-1, true).add(eps).rsqrt();
  const tenon::Tensor unit = self * r;
  tenon::Tensor grad_self, grad_weight;
  if (output_mask[0]) {
    const tenon::Tensor h = grad * weight;
    grad_self = r * (h - unit * (h * unit).mean(-1, true));
  }
  if (output_mask[1]) grad_weight = (grad * unit).sum_to_size(weight.sizes());
  return {grad_self, grad_weight};
}

}  // namespace custom

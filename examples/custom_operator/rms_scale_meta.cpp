#include "custom/native/rms_scale.h"

namespace custom {

/// self / sqrt(mean(self^2, -1) + eps) * weight: self [..., D], weight [D] of the same dtype and
/// device.
tenon::TensorSpec native::rms_scale_meta(const tenon::Tensor& self, const tenon::Tensor& weight,
                                         double) {
  TENON_CHECK(self.dim() > 0 && self.is_floating_point(),
              "[rms_scale] self must be a floating-point tensor with at least one dimension, got ",
              self.dtype(), " of shape ", self.sizes());
  TENON_CHECK(weight.dim() == 1 && weight.size(0) == self.size(-1),
              "[rms_scale] weight must have one value for each column of self, got shapes ",
              weight.sizes(), " and ", self.sizes());
  TENON_CHECK(weight.dtype() == self.dtype() && weight.device() == self.device(),
              "[rms_scale] self and weight must have the same dtype and device, got ", self.dtype(),
              " on ", self.device(), " and ", weight.dtype(), " on ", weight.device());
  return tenon::TensorSpec(self.sizes(), self);
}

}  // namespace custom

#include "tenon/native/_adaptive_avg_pool2d_backward.h"

#include "aten/meta/checks.h"
#include "aten/meta/pooling.h"

namespace tenon {

/// The shape of `self`.
TensorSpec native::_adaptive_avg_pool2d_backward_meta(const Tensor& grad_output,
                                                      const Tensor& self) {
  bool fits = self.dim() >= 3 && grad_output.dim() == self.dim();
  for (int64_t d = 0; fits && d < self.dim() - 2; ++d) fits = grad_output.size(d) == self.size(d);
  TENON_CHECK(fits && self.size(-1) > 0 && self.size(-2) > 0,
              "[adaptive_avg_pool2d_backward] grad_output ", grad_output.sizes(),
              " does not belong to an input of shape ", self.sizes());
  meta::check_same("adaptive_avg_pool2d_backward", "grad_output", grad_output, "self", self);
  return TensorSpec(self.sizes(), meta::strides_like(self, self.sizes()), self.scalar_type(),
                    self.device());
}

}  // namespace tenon

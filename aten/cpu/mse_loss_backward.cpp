#include "tenon/native/mse_loss_backward.h"

#include "aten/cpu/squared_error.h"

namespace tenon {

/// 2 (self - target) grad_output, divided by the number of elements for the mean; one pass where
/// the operands are plain, otherwise composed of operators.
Tensor native::mse_loss_backward_cpu(const Tensor& grad_output, const Tensor& self,
                                     const Tensor& target, int64_t reduction) {
  const ScalarType type = self.scalar_type();
  const bool one = grad_output.numel() == 1;
  if (type != target.scalar_type() || type != grad_output.scalar_type() ||
      (type != kFloat && type != kDouble) || self.sizes() != target.sizes() ||
      !self.is_contiguous() || !target.is_contiguous() || !target.is_cpu() ||
      !grad_output.is_cpu() ||
      !(one || (grad_output.sizes() == self.sizes() && grad_output.is_contiguous())) ||
      grad_output.dim() > self.dim()) {
    return native::mse_loss_backward(grad_output, self, target, reduction);
  }
  const int64_t n = self.numel();
  Tensor out = empty(self.sizes(), type, self.device());
  TENON_DISPATCH_FLOATING(type, "mse_loss_backward", {
    const double factor = reduction == 1 ? 2.0 / static_cast<double>(n) : 2.0;
    const scalar_t* g = grad_output.data_ptr<scalar_t>();
    scaled_difference(n, static_cast<scalar_t>(one ? factor * *g : factor),
                      self.data_ptr<scalar_t>(), target.data_ptr<scalar_t>(), one ? nullptr : g,
                      out.data_ptr<scalar_t>());
  });
  return out;
}

}  // namespace tenon

#include "tenon/native/mse_loss.h"

#include "aten/cpu/squared_error.h"

namespace tenon {

/// One pass where both operands are plain; otherwise composed of operators.
Tensor native::mse_loss_cpu(const Tensor& self, const Tensor& target, int64_t reduction) {
  const ScalarType type = self.scalar_type();
  if (type != target.scalar_type() || (type != kFloat && type != kDouble) ||
      self.sizes() != target.sizes() || !self.is_contiguous() || !target.is_contiguous() ||
      !target.is_cpu()) {
    return native::mse_loss(self, target, reduction);
  }
  const int64_t n = self.numel();
  Tensor out = empty(reduction == 0 ? self.sizes() : IntArrayRef(), type, self.device());
  TENON_DISPATCH_FLOATING(type, "mse_loss", {
    const scalar_t* a = self.data_ptr<scalar_t>();
    const scalar_t* b = target.data_ptr<scalar_t>();
    if (reduction == 0) {
      squared_error(n, a, b, out.data_ptr<scalar_t>());
    } else {
      const double sum = sum_squared_error(n, a, b);
      *out.data_ptr<scalar_t>() =
          static_cast<scalar_t>(reduction == 1 ? sum / static_cast<double>(n) : sum);
    }
  });
  return out;
}

}  // namespace tenon

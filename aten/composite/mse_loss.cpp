#include "tenon/native/mse_loss.h"

#include "tenon/native/mse_loss_backward.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/square.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"

namespace tenon {

/// (self - target)^2, its mean (reduction 1) or its sum (2).
Tensor native::mse_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  TENON_CHECK(reduction >= 0 && reduction <= 2,
              "[mse_loss] reduction must be 0 (none), 1 (mean) or 2 (sum), got ", reduction);
  const Tensor each = square(sub(self, target));
  return reduction == 0 ? each : reduction == 1 ? mean(each) : sum(each);
}

/// 2 (self - target) grad_output, divided by the number of elements for the mean, in the operands'
/// common shape: whoever asked sums it to an operand's own.
Tensor native::mse_loss_backward(const Tensor& grad_output, const Tensor& self,
                                 const Tensor& target, int64_t reduction) {
  const Tensor difference = sub(self, target);
  const double factor = reduction == 1 ? 2.0 / static_cast<double>(difference.numel()) : 2.0;
  return mul(mul(difference, Scalar(factor)), grad_output);
}

}  // namespace tenon

#include "tenon/native/batch_norm.h"

#include "tenon/ops/add.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/native_batch_norm.h"

namespace tenon {

/// y = (x - mean) / sqrt(var + eps) * weight + bias over each channel, with the batch's statistics
/// in training (var divided by n), which also move the running ones (var divided by n - 1), and the
/// running ones otherwise.
Tensor native::batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                          const std::optional<Tensor>& bias,
                          const std::optional<Tensor>& running_mean,
                          const std::optional<Tensor>& running_var, bool training, double momentum,
                          double eps, bool) {
  // Nothing has no statistics, and may be of any dtype and without channels.
  if (input.numel() == 0) {
    Tensor out = clone(input);
    if (weight && weight->numel() > 0) out = out * weight->select(0, 0);
    return bias && bias->numel() > 0 ? out + bias->select(0, 0) : out;
  }
  return std::get<0>(
      native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

}  // namespace tenon

#include "tenon/native/nll_loss_backward.h"

#include "aten/meta/nll_loss.h"

namespace tenon {

/// The shape of `self`.
TensorSpec native::nll_loss_backward_meta(const Tensor& grad_output, const Tensor& self,
                                          const Tensor& target, const std::optional<Tensor>& weight,
                                          int64_t reduction, int64_t, const Tensor& total_weight) {
  meta::check_nll_loss("nll_loss_backward", self, target,
                       weight && weight->defined() ? &*weight : nullptr);
  const bool each = reduction == 0 && self.dim() == 2;
  meta::check_nll_loss_grad("nll_loss_backward", each, grad_output, target, total_weight);
  return TensorSpec(self.sizes(), self);
}

}  // namespace tenon

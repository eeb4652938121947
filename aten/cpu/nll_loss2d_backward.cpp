#include "tenon/native/nll_loss2d_backward.h"

#include "aten/cpu/nll_loss_planes.h"
#include "aten/meta/nll_loss.h"

namespace tenon {

Tensor native::nll_loss2d_backward_cpu(const Tensor& grad_output, const Tensor& self,
                                       const Tensor& target, const std::optional<Tensor>& weight,
                                       int64_t reduction, int64_t ignore_index,
                                       const Tensor& total_weight) {
  meta::check_nll_loss2d("nll_loss2d_backward", self, target,
                         weight && weight->defined() ? &*weight : nullptr, reduction);
  const bool each = reduction == 0;
  meta::check_nll_loss_grad("nll_loss2d_backward", each, grad_output, target, total_weight);
  const Tensor grad_input(tenon::empty(self.sizes(), self.scalar_type(), self.device()));
  nll_backward("nll_loss2d_backward", {self.size(0), self.size(1), self.size(2) * self.size(3)},
               grad_output, target, weight, each, reduction == 1, ignore_index, total_weight,
               grad_input);
  return grad_input;
}

}  // namespace tenon

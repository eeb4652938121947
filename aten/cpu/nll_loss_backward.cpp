#include "tenon/native/nll_loss_backward.h"

#include "aten/cpu/nll_loss_planes.h"

namespace tenon {

void native::nll_loss_backward_cpu(const Tensor& grad_output, const Tensor& self,
                                   const Tensor& target, const std::optional<Tensor>& weight,
                                   int64_t reduction, int64_t ignore_index,
                                   const Tensor& total_weight, const Tensor& grad_input) {
  nll_backward("nll_loss_backward", {self.dim() == 2 ? self.size(0) : 1, self.size(-1), 1},
               grad_output, target, weight, reduction == 0 && self.dim() == 2, reduction == 1,
               ignore_index, total_weight, grad_input);
}

}  // namespace tenon

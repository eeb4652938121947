#include "tenon/native/nll_loss_forward.h"

#include "aten/cpu/nll_loss_planes.h"

namespace tenon {

void native::nll_loss_forward_cpu(const Tensor& self, const Tensor& target,
                                  const std::optional<Tensor>& weight, int64_t reduction,
                                  int64_t ignore_index, const Tensor& output,
                                  const Tensor& total_weight) {
  nll_forward("nll_loss", {self.dim() == 2 ? self.size(0) : 1, self.size(-1), 1}, self, target,
              weight, reduction == 0 && self.dim() == 2, reduction == 1, ignore_index, output,
              total_weight);
}

}  // namespace tenon

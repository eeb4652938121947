#include "tenon/native/nll_loss2d_forward.h"

#include "aten/cpu/nll_loss_planes.h"
#include "aten/meta/nll_loss.h"

namespace tenon {

std::tuple<Tensor, Tensor> native::nll_loss2d_forward_cpu(const Tensor& self, const Tensor& target,
                                                          const std::optional<Tensor>& weight,
                                                          int64_t reduction, int64_t ignore_index) {
  meta::check_nll_loss2d("nll_loss2d", self, target,
                         weight && weight->defined() ? &*weight : nullptr, reduction);
  const bool each = reduction == 0;
  const Tensor output(
      tenon::empty(each ? target.sizes() : IntArrayRef(), self.scalar_type(), self.device())),
      total_weight(tenon::empty({}, self.scalar_type(), self.device()));
  nll_forward("nll_loss2d", {self.size(0), self.size(1), self.size(2) * self.size(3)}, self, target,
              weight, each, reduction == 1, ignore_index, output, total_weight);
  return {output, total_weight};
}

}  // namespace tenon

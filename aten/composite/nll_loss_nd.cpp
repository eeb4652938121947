#include "tenon/native/nll_loss_nd.h"

#include "aten/meta/nll_loss.h"
#include "tenon/ops/movedim.h"
#include "tenon/ops/nll_loss.h"
#include "tenon/ops/nll_loss2d.h"
#include "tenon/ops/reshape.h"

namespace tenon {

/// self [N, C, d1, ...] with target [N, d1, ...]: the further dimensions are more samples, or, if
/// they lie between the classes in memory, the pixels of a plane for each class.
Tensor native::nll_loss_nd(const Tensor& self, const Tensor& target,
                           const std::optional<Tensor>& weight, int64_t reduction,
                           int64_t ignore_index) {
  meta::check_nll_loss_nd(self, target, weight && weight->defined() ? &*weight : nullptr);
  if (self.dim() <= 2) return tenon::nll_loss(self, target, weight, reduction, ignore_index);
  Tensor loss;
  if (self.stride(1) == 1) {
    const Tensor rows = reshape(movedim(self, 1, -1), {target.numel(), self.size(1)});
    loss =
        tenon::nll_loss(rows, reshape(target, {target.numel()}), weight, reduction, ignore_index);
  } else {
    const int64_t batch = self.size(0), pixels = numel_of(target.sizes().slice(1));
    loss = tenon::nll_loss2d(reshape(self, {batch, self.size(1), 1, pixels}),
                             reshape(target, {batch, 1, pixels}), weight, reduction, ignore_index);
  }
  return reduction == 0 ? reshape(loss, target.sizes()) : loss;
}

}  // namespace tenon

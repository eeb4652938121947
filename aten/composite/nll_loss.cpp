#include "tenon/native/nll_loss.h"

#include "tenon/native/nll_loss_nd.h"
#include "tenon/ops/movedim.h"
#include "tenon/ops/nll_loss.h"
#include "tenon/ops/nll_loss_forward.h"
#include "tenon/ops/reshape.h"

namespace tenon {

Tensor native::nll_loss(const Tensor& self, const Tensor& target,
                        const std::optional<Tensor>& weight, int64_t reduction,
                        int64_t ignore_index) {
  return std::get<0>(nll_loss_forward(self, target, weight, reduction, ignore_index));
}

/// self [N, C, d1, ...] with target [N, d1, ...]: the further dimensions are more samples.
Tensor native::nll_loss_nd(const Tensor& self, const Tensor& target,
                           const std::optional<Tensor>& weight, int64_t reduction,
                           int64_t ignore_index) {
  const int64_t dims = self.dim();
  TENON_CHECK_VALUE(dims >= 1, "[nll_loss] Expected 1 or more dimensions (got ", dims, ")");
  if (dims == 1) return tenon::nll_loss(self, target, weight, reduction, ignore_index);
  TENON_CHECK_VALUE(target.dim() >= 1 && self.size(0) == target.size(0),
                    "[nll_loss] Expected input batch_size (", self.size(0),
                    ") to match target batch_size (", target.dim() == 0 ? 0 : target.size(0), ").");
  if (dims == 2) return tenon::nll_loss(self, target, weight, reduction, ignore_index);
  DimVector wanted{self.size(0)};
  for (int64_t d = 2; d < dims; ++d) wanted.push_back(self.size(d));
  TENON_CHECK(target.sizes() == IntArrayRef(wanted), "[nll_loss] Expected target size ", wanted,
              ", got ", target.sizes());
  const Tensor rows = reshape(movedim(self, 1, -1), {target.numel(), self.size(1)});
  const Tensor loss =
      tenon::nll_loss(rows, reshape(target, {target.numel()}), weight, reduction, ignore_index);
  return reduction == 0 ? reshape(loss, target.sizes()) : loss;
}

}  // namespace tenon

#include "tenon/native/multi_margin_loss.h"

#include "tenon/ops/_reduced.h"
#include "tenon/ops/gt.h"
#include "tenon/ops/where.h"

namespace tenon {

/// [N, C] or [C] and the right class of each row: the mean over the classes of max(0, margin - x_y
/// + x_i)^p, i not y, times the weight of y. p is 1 or 2.
Tensor native::multi_margin_loss(const Tensor& self, const Tensor& target, const Scalar& p,
                                 const Scalar& margin, const std::optional<Tensor>& weight,
                                 int64_t reduction) {
  TENON_CHECK(p.equal(1) || p.equal(2),
              "[multi_margin_loss] only p == 1 and p == 2 supported, got ", p);
  TENON_CHECK(self.dim() <= 2 && target.dim() <= 1 && (self.dim() == 0 || self.size(-1) > 0),
              "[multi_margin_loss] Expected non-empty vector or matrix with optional 0-dim batch "
              "size, but got: ",
              self.sizes());
  const Tensor rows = self.dim() == 2 ? self : self.reshape({1, -1});
  TENON_CHECK(target.numel() == rows.size(0),
              "[multi_margin_loss] inconsistent target size, expected ", rows.size(0), " but got ",
              target.sizes());
  TENON_CHECK(!weight || (weight->dim() == 1 && weight->numel() == rows.size(1)),
              "[multi_margin_loss] inconsistent weight size, expected ", rows.size(1), " but got ",
              weight ? weight->sizes() : IntArrayRef());
  const Tensor places = target.reshape({-1, 1});
  const Tensor distance = rows - rows.gather(1, places) + margin;
  Tensor excess = where(distance > 0, distance, 0);  // NaN is no excess
  if (p.equal(2)) excess = excess * excess;
  if (weight) excess = excess * weight->index_select(0, places.view({-1})).unsqueeze(1);
  const Tensor loss = excess.scatter(1, places, 0).sum(1) / rows.size(1);
  return _reduced(self.dim() == 2 ? loss : loss.view({}), reduction);
}

}  // namespace tenon

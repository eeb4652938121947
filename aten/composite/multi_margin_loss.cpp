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
  TENON_CHECK_VALUE(p.equal(1) || p.equal(2),
                    "[multi_margin_loss] only p == 1 and p == 2 supported, got ", p);
  TENON_CHECK_VALUE(!weight || weight->dim() == 1,
                    "[multi_margin_loss] weight must be one-dimensional, got ",
                    weight ? weight->sizes() : IntArrayRef());
  TENON_CHECK(self.dim() <= 2 && (self.dim() == 0 || self.size(-1) > 0),
              "[multi_margin_loss] Expected non-empty vector or matrix with optional 0-dim batch "
              "size, but got: ",
              self.sizes());
  const Tensor rows = self.dim() == 2 ? self : self.reshape({1, -1});
  TENON_CHECK(target.dim() <= 1 && target.numel() == rows.size(0),
              "[multi_margin_loss] target tensor should be 1-D with size equal to the number of "
              "input samples (batch size). Expected target size [",
              rows.size(0), "], but got ", target.sizes(), ". Input has shape ", self.sizes(), ".");
  TENON_CHECK(!weight || weight->numel() == rows.size(1),
              "[multi_margin_loss] inconsistent weight size, expected ", rows.size(1), " but got ",
              weight ? weight->sizes() : IntArrayRef());
  TENON_CHECK(target.scalar_type() == kLong,
              "[multi_margin_loss] expected scalar type Long but found ", target.scalar_type());
  const Tensor places = target.reshape({-1, 1});
  const Tensor distance = rows - rows.gather(1, places) + margin;
  Tensor excess = where(distance > 0, distance, 0);  // NaN is no excess
  if (p.equal(2)) excess = excess * excess;
  if (weight) excess = excess * weight->index_select(0, places.view({-1})).unsqueeze(1);
  const Tensor loss = excess.scatter(1, places, 0).sum(1) / rows.size(1);
  return _reduced(self.dim() == 2 ? loss : loss.view({}), reduction);
}

}  // namespace tenon

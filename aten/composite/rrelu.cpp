#include "tenon/native/rrelu.h"

#include <cmath>

#include "tenon/ops/le.h"
#include "tenon/ops/leaky_relu.h"
#include "tenon/ops/masked_scatter.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/sum.h"

namespace tenon {

/// x where x > 0 and slope x elsewhere (Xu et al. 2015): in training each element has a slope of
/// its own, uniform in [lower, upper); else the slope is (lower + upper) / 2.
Tensor native::rrelu(const Tensor& self, const Scalar& lower, const Scalar& upper, bool training,
                     std::optional<Generator> generator) {
  const double low = lower.toDouble(), high = upper.toDouble();
  TENON_CHECK(std::isfinite(low), "[rrelu] lower bound must be finite, got ", low);
  TENON_CHECK(std::isfinite(high), "[rrelu] upper bound must be finite, got ", high);
  TENON_CHECK(low <= high,
              "[rrelu] Lower bound should be less than or equal to the upper bound, got ", low,
              " and ", high);
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(self.scalar_type()),
                              "[rrelu] is not implemented for '", self.scalar_type(), "'");
  if (!training) return leaky_relu(self, (low + high) / 2);
  const Tensor x = self.detach(), negative = x <= 0;
  // A meta tensor does not say how many there are.
  const int64_t count = self.is_meta() ? self.numel() : negative.sum().item().toLong();
  const Tensor drawn =
      Tensor(empty({count}, kDouble, self.device())).uniform_(low, high, generator);
  return self * ones_like(x).masked_scatter(negative, drawn.to(self.scalar_type()));
}

}  // namespace tenon

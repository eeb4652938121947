#pragma once

#include <cmath>
#include <utility>

#include "tenon/tensor.h"

namespace tenon::native {

/// The range that histc() counts in: [min, max], or that of the elements where both are equal, and
/// one more on both sides where these are all equal, too.
inline std::pair<double, double> histc_range(const Tensor& self, int64_t bins, const Scalar& min,
                                             const Scalar& max) {
  TENON_CHECK(bins > 0, "[histc] bins must be > 0, got ", bins);
  TENON_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "[histc] not implemented for '",
                              self.scalar_type(), "'");
  double low = min.toDouble(), high = max.toDouble();
  if (low == high && self.numel() > 0) {
    low = self.min().item().toDouble();
    high = self.max().item().toDouble();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  TENON_CHECK(std::isfinite(low) && std::isfinite(high), "[histc] range of [", low, ", ", high,
              "] is not finite");
  TENON_CHECK(low < high, "[histc] max must be larger than min, got ", low, " and ", high);
  return {low, high};
}

}  // namespace tenon::native

#include "tenon/native/clamp.h"
#include "tenon/ops/_clamp_both.h"
#include "tenon/ops/_clamp_tensors.h"
#include "tenon/ops/clamp_max.h"
#include "tenon/ops/clamp_min.h"

namespace tenon {

/// min(max(self, min), max): where min > max the result is max.
Tensor native::clamp(const Tensor& self, const std::optional<Scalar>& min,
                     const std::optional<Scalar>& max) {
  TENON_CHECK(min || max, "[clamp] at least one of min and max must be given");
  if (!max) return clamp_min(self, *min);
  if (!min) return clamp_max(self, *max);
  return _clamp_both(self, *min, *max);
}

Tensor native::clamp_Tensor(const Tensor& self, const std::optional<Tensor>& min,
                            const std::optional<Tensor>& max) {
  TENON_CHECK(min || max, "[clamp] at least one of min and max must be given");
  if (!max) return clamp_min(self, *min);
  if (!min) return clamp_max(self, *max);
  return _clamp_tensors(self, *min, *max);
}

}  // namespace tenon

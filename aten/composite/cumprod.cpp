#include "tenon/native/cumprod.h"

#include "tenon/ops/cat.h"
#include "tenon/ops/to.h"

namespace tenon {

/// Products of the first 1, 2, ... elements along dim, by doubling (Hillis and Steele 1986): after
/// step s each element is the product of the last 2 s. The derivative holds where elements are
/// zero, since nothing is divided. Half types are computed in float; integers in int64.
Tensor native::cumprod(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  const int64_t d = wrap_dim(dim, self.dim());
  const ScalarType own = self.scalar_type();
  const ScalarType type = dtype.value_or(is_integral(own, true) ? kLong : own);
  const bool half = type == kHalf || type == kBFloat16;
  Tensor out = self.to(half ? kFloat : type);
  const int64_t n = self.dim() == 0 ? 1 : self.size(d);
  for (int64_t s = 1; s < n; s *= 2)
    out = cat({out.narrow(d, 0, s), out.narrow(d, s, n - s) * out.narrow(d, 0, n - s)}, d);
  out = out.to(type);
  return out.is_same(self) ? self.clone() : out;
}

}  // namespace tenon

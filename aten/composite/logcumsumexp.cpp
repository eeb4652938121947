#include "tenon/native/logcumsumexp.h"

#include "tenon/ops/cat.h"
#include "tenon/ops/logaddexp.h"
#include "tenon/ops/to.h"

namespace tenon {

/// log(sum(exp(x))) of the first 1, 2, ... elements along dim, by doubling (Hillis and Steele
/// 1986). Half types are computed in float.
Tensor native::logcumsumexp(const Tensor& self, int64_t dim) {
  TENON_CHECK_NOT_IMPLEMENTED(is_differentiable(self.scalar_type()),
                              "[logcumsumexp] is not implemented for ", self.scalar_type());
  const int64_t d = wrap_dim(dim, self.dim());
  const ScalarType own = self.scalar_type();
  Tensor out = is_reduced_floating_point(own) ? self.to(kFloat) : self;
  const int64_t n = self.dim() == 0 ? 1 : self.size(d);
  for (int64_t s = 1; s < n; s *= 2) {
    out =
        cat({out.narrow(d, 0, s), logaddexp(out.narrow(d, s, n - s), out.narrow(d, 0, n - s))}, d);
  }
  out = out.to(own);
  return out.is_same(self) ? self.clone() : out;
}

}  // namespace tenon

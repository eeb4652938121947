#include "tenon/native/_linear_scan.h"

#include "aten/meta/linear_scan.h"
#include "tenon/native/_delayed.h"
#include "tenon/ops/_delayed.h"
#include "tenon/ops/_linear_scan.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/full.h"
#include "tenon/ops/mul.h"

namespace tenon {

/// y[i] = self[i] + factors[i] y[i - 1] along dim, or, its adjoint, y[i] = self[i] + factors[i + 1]
/// y[i + 1]; by doubling (Hillis and Steele 1986): after step s each y has what the 2 s elements up
/// to its own give, and each factor is the product of so many.
Tensor native::_linear_scan(const Tensor& self, const Tensor& factors, int64_t dim, bool adjoint) {
  meta::check_linear_scan(self, factors);
  const int64_t d = wrap_dim(dim, self.dim()), n = self.dim() == 0 ? 1 : self.size(d);
  Tensor y = self;
  if (n > 1) {
    Tensor f = adjoint ? factors.narrow(d, 1, n - 1) : factors;
    for (int64_t s = 1; s < n; s *= 2) {
      const int64_t rest = n - s;
      // The last elements, or of the adjoint the first, have another s before them.
      const int64_t to = adjoint ? 0 : s, from = adjoint ? s : 0;
      const Tensor by = f.narrow(d, adjoint ? 0 : s, rest);
      const Tensor more = y.narrow(d, to, rest) + by * y.narrow(d, from, rest);
      y = adjoint ? cat({more, y.narrow(d, rest, s)}, d) : cat({y.narrow(d, 0, s), more}, d);
      if (2 * s >= n) break;
      const int64_t pairs = f.size(d) - s;
      const Tensor product = f.narrow(d, s, pairs) * f.narrow(d, 0, pairs);
      f = adjoint ? product : cat({f.narrow(d, 0, s), product}, d);
    }
  }
  return y.is_same(self) ? self.clone() : y;
}

/// The elements one place later along dim, after `first`.
Tensor native::_delayed(const Tensor& self, int64_t dim, const Scalar& first) {
  const int64_t d = wrap_dim(dim, self.dim());
  if (self.dim() == 0) return full({}, first, self.options());
  if (self.size(d) == 0) return self.clone();
  DimVector sizes(self.sizes());
  sizes[d] = 1;
  return cat({full(sizes, first, self.options()), self.narrow(d, 0, self.size(d) - 1)}, d);
}

}  // namespace tenon

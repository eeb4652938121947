#include "tenon/native/logcumsumexp.h"

#include <complex>
#include <limits>

#include "tenon/native/logcumsumexp_backward.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/exp.h"
#include "tenon/ops/isnan.h"
#include "tenon/ops/logaddexp.h"
#include "tenon/ops/logcumsumexp.h"
#include "tenon/ops/logical_and.h"
#include "tenon/ops/logical_or.h"
#include "tenon/ops/masked_fill.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

/// conj(exp(a - b)) * terms. Where a - b is NaN the factor is 1 for terms that are 0, and where
/// `also`.
Tensor rescaled(const Tensor& a, const Tensor& b, const Tensor& terms, const Tensor& also = {}) {
  const Tensor exponent = sub(a, b);
  const Tensor zero = eq(terms, Scalar(0));
  const Tensor one = logical_and(isnan(exponent), also.defined() ? logical_or(zero, also) : zero);
  const Tensor factor = exp(masked_fill(exponent, one, Scalar(0)));
  return mul(factor.is_complex() ? conj(factor) : factor, terms);
}

}  // namespace

/// log(sum(exp(x))) of the first 1, 2, ... elements along dim, by doubling (Hillis and Steele
/// 1986). Half types are computed in float.
Tensor native::logcumsumexp(const Tensor& self, int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim());
  TENON_CHECK_NOT_IMPLEMENTED(is_differentiable(self.scalar_type()),
                              "[logcumsumexp] is not implemented for ", self.scalar_type());
  const ScalarType own = self.scalar_type();
  Tensor out = is_reduced_floating_point(own) ? self.to(kFloat) : self;
  const int64_t n = self.dim() == 0 ? 1 : self.size(d);
  for (int64_t s = 1; s < n; s *= 2) {
    out =
        cat({out.narrow(d, 0, s), logaddexp(out.narrow(d, s, n - s), out.narrow(d, 0, n - s))}, d);
  }
  if (self.is_complex()) {  // NaN in both parts, wherever there is one
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    return masked_fill(out, isnan(out), Scalar(std::complex<double>(nan, nan)));
  }
  out = out.to(own);
  return out.is_same(self) ? self.clone() : out;
}

/// With y the result: dx_j = sum over i >= j of grad_i exp(x_j - y_i), which is exp(x_j - y_j) s_j,
/// s_j = grad_j + exp(y_j - y_(j+1)) s_(j+1), of complex numbers with conjugate factors. No factor
/// is above 1, as y never falls. By doubling, too.
Tensor native::logcumsumexp_backward(const Tensor& grad, const Tensor& self, const Tensor& result,
                                     int64_t dim) {
  const int64_t d = wrap_dim(dim, self.dim());
  const ScalarType own = self.scalar_type();
  const bool is_half = is_reduced_floating_point(own);
  const Tensor x = is_half ? self.to(kFloat) : self;
  // A half result is too coarse for differences.
  const Tensor y = is_half ? tenon::logcumsumexp(x, d) : result;
  Tensor sum = is_half ? grad.to(kFloat) : grad;
  const int64_t n = self.dim() == 0 ? 1 : self.size(d);
  for (int64_t s = 1; s < n; s *= 2) {
    const Tensor now = y.narrow(d, 0, n - s), next = y.narrow(d, s, n - s);
    // Equal infinities are no step.
    const Tensor later = rescaled(now, next, sum.narrow(d, s, n - s), eq(now, next));
    sum = cat({sum.narrow(d, 0, n - s) + later, sum.narrow(d, n - s, s)}, d);
  }
  return rescaled(x, y, sum).to(own);
}

}  // namespace tenon

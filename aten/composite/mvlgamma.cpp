#include "tenon/native/mvlgamma.h"

#include <cmath>

#include "tenon/ops/add.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/lgamma.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/to.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon {

/// log of the multivariate gamma function: p (p - 1) / 4 log(pi) + sum_j lgamma(self - j / 2), j =
/// 0 ... p - 1.
Tensor native::mvlgamma(const Tensor& self, int64_t p) {
  TENON_CHECK(p >= 1, "[mvlgamma] p has to be greater than or equal to 1, got ", p);
  TENON_CHECK(self.scalar_type() != kBool,
              "[mvlgamma] The input tensor may not be a boolean tensor.");
  const ScalarType dtype =
      is_integral(self.scalar_type(), true) ? get_default_dtype() : self.scalar_type();
  const Tensor steps = arange(Scalar(0.5 * (1 - static_cast<double>(p))), Scalar(0.5), Scalar(0.5),
                              TensorOptions().dtype(dtype).device(self.device()));
  const double constant = 0.25 * static_cast<double>(p * (p - 1)) * std::log(M_PI);
  return lgamma(self.unsqueeze(-1) + steps).sum({-1}) + Scalar(constant);
}

}  // namespace tenon

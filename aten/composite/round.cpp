#include "tenon/native/round.h"

#include <cmath>

#include "tenon/ops/div.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/round.h"
#include "tenon/ops/to.h"

namespace tenon {

/// round(self * 10^decimals) / 10^decimals; with negative decimals round(self / 10^-decimals) *
/// 10^-decimals. Integers take no decimals.
Tensor native::round_decimals(const Tensor& self, int64_t decimals) {
  if (decimals == 0) return ops::round::call(self);
  TENON_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "[round] is not implemented for '",
                              self.scalar_type(), "' with decimals=", decimals);
  // Rounded to a half type once.
  if (is_reduced_floating_point(self.scalar_type()))
    return round_decimals(self.to(kFloat), decimals).to(self.scalar_type());
  const Scalar ten = std::pow(10.0, std::fabs(static_cast<double>(decimals)));
  if (decimals < 0)
    return ops::mul_Scalar::call(ops::round::call(ops::div_Scalar::call(self, ten)), ten);
  return ops::div_Scalar::call(ops::round::call(ops::mul_Scalar::call(self, ten)), ten);
}

}  // namespace tenon

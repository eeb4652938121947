#include "tenon/native/isclose.h"

#include "tenon/ops/abs.h"
#include "tenon/ops/add.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/isfinite.h"
#include "tenon/ops/isnan.h"
#include "tenon/ops/le.h"
#include "tenon/ops/logical_and.h"
#include "tenon/ops/logical_or.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/to.h"

namespace tenon {

/// |self - other| <= atol + |rtol * other| where that is finite, or equal; of integers and bool in
/// the default dtype.
Tensor native::isclose(const Tensor& self, const Tensor& other, double rtol, double atol,
                       bool equal_nan) {
  TENON_CHECK(self.scalar_type() == other.scalar_type(), "[isclose] ", self.scalar_type(),
              " did not match ", other.scalar_type());
  TENON_CHECK(rtol >= 0, "[isclose] rtol must be greater than or equal to zero, but got ", rtol);
  TENON_CHECK(atol >= 0, "[isclose] atol must be greater than or equal to zero, but got ", atol);
  const Tensor equal = ops::eq_Tensor::call(self, other);
  const Tensor same =
      equal_nan ? ops::logical_or::call(equal, ops::logical_and::call(ops::isnan::call(self),
                                                                      ops::isnan::call(other)))
                : equal;
  if (rtol == 0 && atol == 0) return same;
  const auto inexact = [](const Tensor& t) {
    return is_integral(t.scalar_type(), true)
               ? ops::to_dtype::call(t, get_default_dtype(), /*non_blocking=*/false, /*copy=*/false,
                                     std::nullopt)
               : t;
  };
  const Tensor to = inexact(other);
  const Tensor gap = ops::abs::call(ops::sub_Tensor::call(inexact(self), to, 1));
  const Tensor allowed =
      ops::add_Scalar::call(ops::abs::call(ops::mul_Scalar::call(to, rtol)), atol, 1);
  return ops::logical_or::call(
      same, ops::logical_and::call(ops::isfinite::call(gap), ops::le_Tensor::call(gap, allowed)));
}

}  // namespace tenon

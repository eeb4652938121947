#include "tenon/native/ldexp.h"

#include "tenon/ops/exp2.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/to.h"

namespace tenon {

/// self * 2^other. The power of an integer is a float and leaves a floating-point self its dtype.
Tensor native::ldexp_Tensor(const Tensor& self, const Tensor& other) {
  const Tensor result = ops::mul_Tensor::call(self, ops::exp2::call(other));
  const bool keeps =
      is_differentiable(self.scalar_type()) && is_integral(other.scalar_type(), true);
  return keeps ? ops::to_dtype::call(result, self.scalar_type(), false, false, std::nullopt)
               : result;
}

}  // namespace tenon

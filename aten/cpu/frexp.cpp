#include "tenon/native/frexp.h"

#include <cmath>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"

namespace tenon {

void native::frexp_Tensor_cpu(const Tensor& self, const Tensor& mantissa, const Tensor& exponent) {
  const TensorBase in = native::contiguous(self);
  const native::ContiguousOutput fractions(mantissa), powers(exponent);
  TENON_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "frexp", {
    using V = opmath_type<scalar_t>;
    const auto* from = static_cast<const scalar_t*>(in.const_data_ptr());
    auto* to = fractions.data<scalar_t>();
    auto* power = powers.data<int32_t>();
    parallel_for(0, in.numel(), 8192, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int exponent_of_two = 0;
        to[i] = static_cast<scalar_t>(std::frexp(static_cast<V>(from[i]), &exponent_of_two));
        power[i] = exponent_of_two;
      }
    });
  });
  fractions.copy_back();
  powers.copy_back();
}

}  // namespace tenon

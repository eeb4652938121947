#include "tenon/native/dropout.h"

#include "tenon/ops/mul.h"
#include "tenon/ops/native_dropout.h"
#include "tenon/ops/ones.h"

namespace tenon {

/// In training, each element is 0 with probability p and divided by 1 - p otherwise; else the input
/// itself.
Tensor native::dropout(const Tensor& input, double p, bool train) {
  TENON_CHECK(p >= 0 && p <= 1, "[dropout] dropout probability has to be between 0 and 1, but got ",
              p);
  if (!train || p == 0 || input.numel() == 0) return input;
  // A complex number is kept or dropped as a whole.
  if (input.is_complex()) {
    const TensorOptions real = input.options().dtype(to_real(input.scalar_type()));
    return mul(input, std::get<0>(native_dropout(ones(input.sizes(), real), p, train)));
  }
  return std::get<0>(native_dropout(input, p, train));
}

}  // namespace tenon

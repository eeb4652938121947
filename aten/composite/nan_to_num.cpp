#include "tenon/native/nan_to_num.h"

#include <limits>

#include "tenon/ops/_nan_to_num.h"
#include "tenon/ops/isfinite.h"
#include "tenon/ops/nan_to_num.h"
#include "tenon/ops/view_as_complex.h"
#include "tenon/ops/view_as_real.h"
#include "tenon/ops/where.h"

namespace tenon {
namespace {

double largest(ScalarType type) {
  switch (type) {
  case kHalf: return 65504;
  case kBFloat16: return 0x1.fep127;
  case kFloat: return std::numeric_limits<float>::max();
  default: return std::numeric_limits<double>::max();
  }
}

}  // namespace

/// NaN becomes `nan`, by default 0; infinities become `posinf` and `neginf`, by default the largest
/// and the smallest number of the dtype; in each part of complex numbers. Integers stay.
Tensor native::nan_to_num(const Tensor& self, std::optional<double> nan,
                          std::optional<double> posinf, std::optional<double> neginf) {
  const ScalarType type = self.scalar_type();
  if (is_complex(type)) {
    // Both parts of a number that is not finite have the gradient 0.
    const Tensor x = self.requires_grad() ? where(isfinite(self), self, self.detach()) : self;
    return tenon::view_as_complex(
        ops::nan_to_num::call(tenon::view_as_real(x.resolve_conj()), nan, posinf, neginf));
  }
  if (is_integral(type, true)) return self.clone();
  const double limit = largest(type);
  return _nan_to_num(self, nan.value_or(0), posinf.value_or(limit), neginf.value_or(-limit));
}

}  // namespace tenon

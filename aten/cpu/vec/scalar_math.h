#pragma once

#include "aten/core/macros.h"

namespace tenon::native {

/// log|gamma(x)|: +inf at 0 and the negative integers.
TENON_API double scalar_lgamma(double x);

/// Derivative of log gamma(x). digamma(±0) = ∓inf; NaN at the negative integers.
TENON_API double scalar_digamma(double x);

/// The y with erf(y) = x: ±inf at ±1, NaN beyond.
TENON_API double scalar_erfinv(double x);

}  // namespace tenon::native

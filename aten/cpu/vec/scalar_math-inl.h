// Definitions, for one source of each library.
#pragma once

#include "aten/cpu/vec/scalar_math.h"

#include <cmath>
#include <limits>

namespace tenon::native {

double scalar_lgamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);  // std::lgamma writes a global
}

double scalar_digamma(double x) {
  constexpr double kPi = 3.14159265358979323846;
  if (x == 0) return std::copysign(std::numeric_limits<double>::infinity(), -x);
  double reflection = 0;
  if (x < 0) {
    if (x == std::trunc(x)) return std::numeric_limits<double>::quiet_NaN();
    // psi(1 - x) - psi(x) = pi / tan(pi x), with the argument of tan reduced exactly.
    reflection = -kPi / std::tan(kPi * (x - std::trunc(x)));
    x = 1 - x;
  }
  double shift = 0;
  for (; x < 10; x += 1) shift -= 1 / x;
  // Asymptotic series log x - 1/(2x) - sum B_2k / (2k x^2k); six terms give 1e-17 from 10 on.
  const double z = 1 / (x * x);
  const double series =
      z * (1.0 / 12 -
           z * (1.0 / 120 -
                z * (1.0 / 252 -
                     z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z * (1.0 / 12)))))));
  return shift + reflection + std::log(x) - 0.5 / x - (std::isinf(x) ? 0 : series);
}

double scalar_erfinv(double x) {
  if (!(std::fabs(x) < 1)) {
    return std::fabs(x) == 1 ? std::copysign(std::numeric_limits<double>::infinity(), x)
                             : std::numeric_limits<double>::quiet_NaN();
  }
  if (x == 0) return x;
  constexpr double kHalfRootPi = 0.88622692545275801365;
  // Winitzki's closed form is within 2e-3; each Halley step then triples the number of digits. Near
  // 1 the residual is taken from erfc, which keeps its digits where erf has none left.
  const double a = std::fabs(x);
  const double w = std::log1p(-a) + std::log1p(a);
  const double t = 2 / (3.14159265358979323846 * 0.147) + 0.5 * w;
  double y = std::sqrt(std::sqrt(t * t - w / 0.147) - t);
  if (a < 1e-8) y = a * kHalfRootPi;
  for (int i = 0; i < 3; ++i) {
    const double residual = a < 0.5 ? std::erf(y) - a : (1 - a) - std::erfc(y);
    const double step = residual * kHalfRootPi * std::exp(y * y);
    y -= step / (1 + y * step);
  }
  return std::copysign(y, x);
}

}  // namespace tenon::native

#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

namespace tenon::native::lapack {

/// Whether there is neither an infinity nor a NaN among n numbers. Some versions of LAPACK's
/// iterations do not end with these.
template <class T>
bool all_finite(const T* values, int64_t n) {
  using Real = decltype(std::real(T()));
  const auto* const reals = reinterpret_cast<const Real*>(values);
  const int64_t count = n * static_cast<int64_t>(sizeof(T) / sizeof(Real));
  // Infinities and NaN give NaN, so that vectors of numbers are tested at once.
  Real sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += reals[i] * Real(0);
  return sum == Real(0);
}

}  // namespace tenon::native::lapack

#pragma once

#include <cstdint>

namespace tenon::native {

/// sum of (a[i] - b[i])^2; on several threads where that pays. T float or double.
template <class T>
double sum_squared_error(int64_t n, const T* a, const T* b);
/// out[i] = (a[i] - b[i])^2
template <class T>
void squared_error(int64_t n, const T* a, const T* b, T* out);
/// out[i] = factor * (a[i] - b[i]) * g[i]; g null stands for ones.
template <class T>
void scaled_difference(int64_t n, T factor, const T* a, const T* b, const T* g, T* out);

#define TENON_DECLARE(T)                                                    \
  extern template double sum_squared_error<T>(int64_t, const T*, const T*); \
  extern template void squared_error<T>(int64_t, const T*, const T*, T*);   \
  extern template void scaled_difference<T>(int64_t, T, const T*, const T*, const T*, T*);
TENON_DECLARE(float)
TENON_DECLARE(double)
#undef TENON_DECLARE

}  // namespace tenon::native

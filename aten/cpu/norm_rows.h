#pragma once

#include <cstdint>

namespace tenon::native {

/// Rows of [rows, n] normalised: y = (x - mean) * rstd * weight + bias with mean and
/// rstd = 1 / sqrt(mean((x - mean)^2) + eps) per row, weight and bias [n] or null; T float or
/// double.
template <class T>
void layer_norm_forward(const T* x, const T* weight, const T* bias, T* y, T* mean, T* rstd,
                        int64_t rows, int64_t n, double eps);

/// With g = dy * weight and h = (x - mean) * rstd: dx = rstd (g - mean(g) - h mean(g h)),
/// dweight = sum over rows of dy h, dbias = sum over rows of dy. Null results are not computed.
template <class T>
void layer_norm_backward(const T* dy, const T* x, const T* mean, const T* rstd, const T* weight,
                         T* dx, T* dweight, T* dbias, int64_t rows, int64_t n);

#define TENON_DECLARE(T)                                                                        \
  extern template void layer_norm_forward<T>(const T*, const T*, const T*, T*, T*, T*, int64_t, \
                                             int64_t, double);                                  \
  extern template void layer_norm_backward<T>(const T*, const T*, const T*, const T*, const T*, \
                                              T*, T*, T*, int64_t, int64_t);
TENON_DECLARE(float)
TENON_DECLARE(double)
#undef TENON_DECLARE

}  // namespace tenon::native

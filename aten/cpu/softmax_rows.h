#pragma once

#include <cstdint>

namespace tenon::native {

/// Softmax or log-softmax along the middle of [outer, n, inner], row-major, for T float or double:
///   softmax: y_i = exp(x_i - max x) / sum_j exp(x_j - max x)
///   log:     y_i = x_i - max x - log sum_j exp(x_j - max x)
template <class T>
void softmax_forward(const T* x, T* y, int64_t outer, int64_t n, int64_t inner, bool log);

/// Gradients from the result y:
///   softmax: dx_i = y_i (dy_i - sum_j dy_j y_j);   log: dx_i = dy_i - exp(y_i) sum_j dy_j
template <class T>
void softmax_backward(const T* dy, const T* y, T* dx, int64_t outer, int64_t n, int64_t inner,
                      bool log);

extern template void softmax_forward<float>(const float*, float*, int64_t, int64_t, int64_t, bool);
extern template void softmax_forward<double>(const double*, double*, int64_t, int64_t, int64_t,
                                             bool);
extern template void softmax_backward<float>(const float*, const float*, float*, int64_t, int64_t,
                                             int64_t, bool);
extern template void softmax_backward<double>(const double*, const double*, double*, int64_t,
                                              int64_t, int64_t, bool);

}  // namespace tenon::native

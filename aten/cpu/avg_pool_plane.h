#pragma once

#include <algorithm>
#include <optional>

#include "aten/meta/pooling.h"

namespace tenon::native {

/// One window of an average: input rows [h0, h1) and columns [w0, w1), and what the sum is divided
/// by.
struct AverageWindow {
  int64_t h0, h1, w0, w1, divisor;

  bool empty() const { return h0 >= h1 || w0 >= w1; }
};

inline AverageWindow average_window(const meta::Pool2d& p, int64_t row, int64_t column,
                                    bool count_include_pad,
                                    std::optional<int64_t> divisor_override) {
  AverageWindow a;
  a.h0 = row * p.stride_h - p.pad_h;
  a.w0 = column * p.stride_w - p.pad_w;
  a.h1 = std::min(a.h0 + p.kernel_h, p.in_h + p.pad_h);
  a.w1 = std::min(a.w0 + p.kernel_w, p.in_w + p.pad_w);
  const int64_t padded = (a.h1 - a.h0) * (a.w1 - a.w0);
  a.h0 = std::max<int64_t>(a.h0, 0);
  a.w0 = std::max<int64_t>(a.w0, 0);
  a.h1 = std::min(a.h1, p.in_h);
  a.w1 = std::min(a.w1, p.in_w);
  a.divisor = divisor_override    ? *divisor_override
              : count_include_pad ? padded
                                  : (a.h1 - a.h0) * (a.w1 - a.w0);
  return a;
}

/// Window of adaptive pooling: output i covers [floor(i in / out), ceil((i + 1) in / out)).
inline AverageWindow adaptive_window(const meta::Pool2d& p, int64_t row, int64_t column) {
  AverageWindow a;
  a.h0 = row * p.in_h / p.out_h;
  a.h1 = ((row + 1) * p.in_h + p.out_h - 1) / p.out_h;
  a.w0 = column * p.in_w / p.out_w;
  a.w1 = ((column + 1) * p.in_w + p.out_w - 1) / p.out_w;
  a.divisor = (a.h1 - a.h0) * (a.w1 - a.w0);
  return a;
}

/// Averages of one plane; `window(row, column)` names each output's elements.
template <class T, class Window>
void average_plane(const meta::Pool2d& p, const T* in, T* out, Window&& window) {
  for (int64_t row = 0; row < p.out_h; ++row) {
    for (int64_t column = 0; column < p.out_w; ++column) {
      const AverageWindow a = window(row, column);
      T sum = 0;
      for (int64_t h = a.h0; h < a.h1; ++h) {
        for (int64_t w = a.w0; w < a.w1; ++w) sum += in[h * p.in_w + w];
      }
      out[row * p.out_w + column] = a.empty() ? T(0) : sum / static_cast<T>(a.divisor);
    }
  }
}

/// The gradient of one plane: every output's share goes to its window's elements.
template <class T, class Window>
void spread_plane(const meta::Pool2d& p, const T* grad_out, T* grad_in, Window&& window) {
  std::fill_n(grad_in, p.in_size(), T(0));
  for (int64_t row = 0; row < p.out_h; ++row) {
    for (int64_t column = 0; column < p.out_w; ++column) {
      const AverageWindow a = window(row, column);
      if (a.empty()) continue;
      const T share = grad_out[row * p.out_w + column] / static_cast<T>(a.divisor);
      for (int64_t h = a.h0; h < a.h1; ++h) {
        for (int64_t w = a.w0; w < a.w1; ++w) grad_in[h * p.in_w + w] += share;
      }
    }
  }
}

}  // namespace tenon::native

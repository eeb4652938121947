#include "aten/cpu/softmax_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/softmax_rows.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/core/parallel.h"
#include "aten/cpu/rows-inl.h"
#include "aten/cpu/vec/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

constexpr auto kAdd = [](auto a, auto b) { return hn::Add(a, b); };
constexpr auto kMax = [](auto a, auto b) { return hn::Max(a, b); };

/// Rows of at most a vector stay in a register.
template <bool kLog, class T>
void forward_short_rows(const T* x, T* y, int64_t rows, int64_t n) {
  const RowTag<T> d;
  constexpr T kLowest = -std::numeric_limits<T>::infinity();
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const auto v = load_part(d, x, n, kLowest);
    const auto shifted = hn::Sub(v, hn::MaxOfLanes(d, v));
    const auto e = hn::IfThenElseZero(hn::FirstN(d, n), m::exp(shifted));
    if constexpr (kLog) {
      store_part(hn::Sub(shifted, hn::Set(d, std::log(sum_lanes<T>(e)))), d, y, n);
    } else {
      store_part(hn::Div(e, hn::SumOfLanes(d, e)), d, y, n);
    }
  }
}

/// Contiguous rows; a row is read from memory once and stays in the first cache for the other
/// passes.
template <class T>
void forward_rows(const T* x, T* y, int64_t rows, int64_t n, bool log) {
  const RowTag<T> d;
  if (n <= kRowLanes<T>)
    return log ? forward_short_rows<true>(x, y, rows, n) : forward_short_rows<false>(x, y, rows, n);
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    constexpr T kLowest = -std::numeric_limits<T>::infinity();
    const T max = hn::GetLane(hn::MaxOfLanes(d, reduce_row<T>(n, kLowest, kLowest, kMax, kMax, x)));
    const auto vmax = hn::Set(d, max);
    if (log) {
      const auto sums = reduce_row<T>(
          n, T(0), kLowest,
          [&](auto acc, auto v) { return hn::Add(acc, m::exp(hn::Sub(v, vmax))); }, kAdd, x);
      // A row of nothing but -inf gives NaN everywhere, as it must.
      const auto shift = hn::Set(d, std::log(sum_lanes<T>(sums)));
      map_row<T>(
          n, y, [&](auto v) { return hn::Sub(hn::Sub(v, vmax), shift); }, x);
    } else {
      map_row<T>(
          n, y, [&](auto v) { return m::exp(hn::Sub(v, vmax)); }, x);
      const auto scale =
          hn::Set(d, T(1) / sum_lanes<T>(reduce_row<T>(n, T(0), T(0), kAdd, kAdd, y)));
      map_row<T>(
          n, y, [&](auto v) { return hn::Mul(v, scale); }, y);
    }
  }
}

template <bool kLog, class T>
void backward_short_rows(const T* dy, const T* y, T* dx, int64_t rows, int64_t n) {
  const RowTag<T> d;
  for (int64_t r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    const auto g = load_part(d, dy, n, T(0)), v = load_part(d, y, n, T(0));
    const auto sum = hn::SumOfLanes(d, kLog ? g : hn::Mul(g, v));
    store_part(kLog ? hn::NegMulAdd(m::exp(v), sum, g) : hn::Mul(hn::Sub(g, sum), v), d, dx, n);
  }
}

template <class T>
void backward_rows(const T* dy, const T* y, T* dx, int64_t rows, int64_t n, bool log) {
  const RowTag<T> d;
  if (n <= kRowLanes<T>) {
    return log ? backward_short_rows<true>(dy, y, dx, rows, n)
               : backward_short_rows<false>(dy, y, dx, rows, n);
  }
  for (int64_t r = 0; r < rows; ++r, dy += n, y += n, dx += n) {
    if (log) {
      const auto sum = hn::Set(d, sum_lanes<T>(reduce_row<T>(n, T(0), T(0), kAdd, kAdd, dy)));
      map_row<T>(
          n, dx, [&](auto g, auto v) { return hn::NegMulAdd(m::exp(v), sum, g); }, dy, y);
    } else {
      const auto sum = hn::Set(
          d, sum_lanes<T>(reduce_row<T>(
                 n, T(0), T(0), [](auto acc, auto g, auto v) { return hn::MulAdd(g, v, acc); },
                 kAdd, dy, y)));
      map_row<T>(
          n, dx, [&](auto g, auto v) { return hn::Mul(hn::Sub(g, sum), v); }, dy, y);
    }
  }
}

inline constexpr int64_t kStrip = 128;

/// [n, inner] with columns [0, width) of it, width <= kStrip: vectors run across the columns.
template <class T>
void forward_columns(const T* x, T* y, int64_t n, int64_t inner, int64_t width, bool log) {
  HWY_ALIGN T max[kStrip], sum[kStrip];
  std::copy_n(x, width, max);
  std::fill_n(sum, width, T(0));
  for (int64_t i = 1; i < n; ++i)
    map_row<T>(width, max, kMax, static_cast<const T*>(max), x + i * inner);
  for (int64_t i = 0; i < n; ++i) {
    const T* row = x + i * inner;
    T* out = y + i * inner;
    map_row<T>(
        width, out, [](auto v, auto top) { return m::exp(hn::Sub(v, top)); }, row,
        static_cast<const T*>(max));
    map_row<T>(width, sum, kAdd, static_cast<const T*>(sum), static_cast<const T*>(out));
  }
  if (log) {
    for (int64_t j = 0; j < width; ++j) sum[j] = std::log(sum[j]);
  }
  for (int64_t i = 0; i < n; ++i) {
    T* out = y + i * inner;
    if (log) {
      map_row<T>(
          width, out, [](auto v, auto top, auto s) { return hn::Sub(hn::Sub(v, top), s); },
          x + i * inner, static_cast<const T*>(max), static_cast<const T*>(sum));
    } else {
      map_row<T>(
          width, out, [](auto v, auto s) { return hn::Div(v, s); }, static_cast<const T*>(out),
          static_cast<const T*>(sum));
    }
  }
}

template <class T>
void backward_columns(const T* dy, const T* y, T* dx, int64_t n, int64_t inner, int64_t width,
                      bool log) {
  HWY_ALIGN T sum[kStrip];
  const T* s = sum;
  std::fill_n(sum, width, T(0));
  for (int64_t i = 0; i < n; ++i) {
    if (log) {
      map_row<T>(width, sum, kAdd, s, dy + i * inner);
    } else {
      map_row<T>(
          width, sum, [](auto a, auto g, auto v) { return hn::MulAdd(g, v, a); }, s, dy + i * inner,
          y + i * inner);
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    if (log) {
      map_row<T>(
          width, dx + i * inner,
          [](auto a, auto g, auto v) { return hn::NegMulAdd(m::exp(v), a, g); }, s, dy + i * inner,
          y + i * inner);
    } else {
      map_row<T>(
          width, dx + i * inner, [](auto a, auto g, auto v) { return hn::Mul(hn::Sub(g, a), v); },
          s, dy + i * inner, y + i * inner);
    }
  }
}

#define TENON_SOFTMAX(T)                                                                          \
  void forward_rows_##T(const T* x, T* y, int64_t rows, int64_t n, bool log) {                    \
    forward_rows(x, y, rows, n, log);                                                             \
  }                                                                                               \
  void backward_rows_##T(const T* dy, const T* y, T* dx, int64_t rows, int64_t n, bool log) {     \
    backward_rows(dy, y, dx, rows, n, log);                                                       \
  }                                                                                               \
  void forward_columns_##T(const T* x, T* y, int64_t n, int64_t inner, int64_t width, bool log) { \
    forward_columns(x, y, n, inner, width, log);                                                  \
  }                                                                                               \
  void backward_columns_##T(const T* dy, const T* y, T* dx, int64_t n, int64_t inner,             \
                            int64_t width, bool log) {                                            \
    backward_columns(dy, y, dx, n, inner, width, log);                                            \
  }
TENON_SOFTMAX(float)
TENON_SOFTMAX(double)
#undef TENON_SOFTMAX

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {
namespace {

#define TENON_SOFTMAX(T)                                                                    \
  HWY_EXPORT(forward_rows_##T);                                                             \
  HWY_EXPORT(backward_rows_##T);                                                            \
  HWY_EXPORT(forward_columns_##T);                                                          \
  HWY_EXPORT(backward_columns_##T);                                                         \
  void run_rows(const T* x, T* y, int64_t rows, int64_t n, bool log) {                      \
    HWY_DYNAMIC_DISPATCH(forward_rows_##T)(x, y, rows, n, log);                             \
  }                                                                                         \
  void run_rows(const T* dy, const T* y, T* dx, int64_t rows, int64_t n, bool log) {        \
    HWY_DYNAMIC_DISPATCH(backward_rows_##T)(dy, y, dx, rows, n, log);                       \
  }                                                                                         \
  void run_columns(const T* x, T* y, int64_t n, int64_t inner, int64_t width, bool log) {   \
    HWY_DYNAMIC_DISPATCH(forward_columns_##T)(x, y, n, inner, width, log);                  \
  }                                                                                         \
  void run_columns(const T* dy, const T* y, T* dx, int64_t n, int64_t inner, int64_t width, \
                   bool log) {                                                              \
    HWY_DYNAMIC_DISPATCH(backward_columns_##T)(dy, y, dx, n, inner, width, log);            \
  }
TENON_SOFTMAX(float)
TENON_SOFTMAX(double)
#undef TENON_SOFTMAX

constexpr int64_t kGrain = 16384;  // elements for which another thread pays
constexpr int64_t kStripWidth = 128;

/// Rows go to `rows(first, count)`; otherwise strips of columns to `columns(offset, width)`.
template <class Rows, class Columns>
void for_each_part(int64_t outer, int64_t n, int64_t inner, Rows&& rows, Columns&& columns) {
  if (outer * n * inner == 0) return;
  if (inner == 1) {
    parallel_for(0, outer, std::max<int64_t>(1, kGrain / n),
                 [&](int64_t begin, int64_t end) { rows(begin, end - begin); });
    return;
  }
  const int64_t strips = (inner + kStripWidth - 1) / kStripWidth;
  parallel_for(0, outer * strips, std::max<int64_t>(1, kGrain / (n * std::min(inner, kStripWidth))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t l = begin; l < end; ++l) {
                   const int64_t column = l % strips * kStripWidth;
                   columns(l / strips * n * inner + column, std::min(kStripWidth, inner - column));
                 }
               });
}

}  // namespace

template <class T>
void softmax_forward(const T* x, T* y, int64_t outer, int64_t n, int64_t inner, bool log) {
  for_each_part(
      outer, n, inner,
      [&](int64_t first, int64_t count) { run_rows(x + first * n, y + first * n, count, n, log); },
      [&](int64_t at, int64_t width) { run_columns(x + at, y + at, n, inner, width, log); });
}

template <class T>
void softmax_backward(const T* dy, const T* y, T* dx, int64_t outer, int64_t n, int64_t inner,
                      bool log) {
  for_each_part(
      outer, n, inner,
      [&](int64_t first, int64_t count) {
        run_rows(dy + first * n, y + first * n, dx + first * n, count, n, log);
      },
      [&](int64_t at, int64_t width) {
        run_columns(dy + at, y + at, dx + at, n, inner, width, log);
      });
}

template void softmax_forward<float>(const float*, float*, int64_t, int64_t, int64_t, bool);
template void softmax_forward<double>(const double*, double*, int64_t, int64_t, int64_t, bool);
template void softmax_backward<float>(const float*, const float*, float*, int64_t, int64_t, int64_t,
                                      bool);
template void softmax_backward<double>(const double*, const double*, double*, int64_t, int64_t,
                                       int64_t, bool);

}  // namespace tenon::native
#endif

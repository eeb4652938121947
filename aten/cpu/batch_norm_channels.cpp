#include "aten/cpu/batch_norm_channels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/batch_norm_channels.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "aten/core/parallel.h"
#include "aten/cpu/row_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

/// Adds one line of a channel to sum and product. Short pieces in T, their sums in double.
template <class T>
void line_sums(const T* x, const T* dy, T shift, int64_t n, double& sum, double& product) {
  const RowTag<T> d;
  constexpr int64_t kN = kRowLanes<T>, kPiece = 4096;
  const auto vshift = hn::Set(d, shift);
  for (int64_t start = 0; start < n; start += kPiece) {
    const int64_t end = std::min(n, start + kPiece);
    auto s0 = hn::Zero(d), s1 = s0, p0 = s0, p1 = s0;
    int64_t i = start;
    for (; i + 2 * kN <= end; i += 2 * kN) {
      const auto x0 = hn::Sub(hn::LoadU(d, x + i), vshift),
                 x1 = hn::Sub(hn::LoadU(d, x + i + kN), vshift);
      const auto g0 = dy ? hn::LoadU(d, dy + i) : x0, g1 = dy ? hn::LoadU(d, dy + i + kN) : x1;
      s0 = hn::Add(s0, g0);
      s1 = hn::Add(s1, g1);
      p0 = hn::MulAdd(x0, g0, p0);
      p1 = hn::MulAdd(x1, g1, p1);
    }
    T s = sum_lanes<T>(hn::Add(s0, s1)), p = sum_lanes<T>(hn::Add(p0, p1));
    for (; i < end; ++i) {
      const T v = x[i] - shift, g = dy ? dy[i] : v;
      s += g;
      p += v * g;
    }
    sum += s;
    product += p;
  }
}

/// Rows [0, rows) of [rows, channels], added to sums and products.
template <class T>
void column_sums(const T* x, const T* dy, const T* shift, int64_t rows, int64_t channels,
                 double* sums, double* products) {
  constexpr int64_t kStrip = 64, kPiece = 256;
  for (int64_t c = 0; c < channels; c += kStrip) {
    const int64_t width = std::min(kStrip, channels - c);
    for (int64_t start = 0; start < rows; start += kPiece) {
      T s[kStrip] = {}, p[kStrip] = {};
      for (int64_t r = start; r < std::min(rows, start + kPiece); ++r) {
        const T* row = x + r * channels + c;
        const T* g = dy ? dy + r * channels + c : nullptr;
        for (int64_t j = 0; j < width; ++j) {
          const T v = row[j] - shift[c + j], w = g ? g[j] : v;
          s[j] += w;
          p[j] += v * w;
        }
      }
      for (int64_t j = 0; j < width; ++j) {
        sums[c + j] += s[j];
        products[c + j] += p[j];
      }
    }
  }
}

template <class T>
void affine_line(const T* x, const T* dy, T a, T b, T c, T* y, int64_t n) {
  const RowTag<T> d;
  const auto va = hn::Set(d, a), vb = hn::Set(d, b), vc = hn::Set(d, c);
  if (dy) {
    map_row<T>(
        n, y, [&](auto v, auto g) { return hn::MulAdd(g, va, hn::MulAdd(v, vc, vb)); }, x, dy);
  } else {
    map_row<T>(
        n, y, [&](auto v) { return hn::MulAdd(v, va, vb); }, x);
  }
}

template <class T>
void affine_row(const T* x, const T* dy, const T* a, const T* b, const T* c, T* y, int64_t n) {
  if (dy) {
    map_row<T>(
        n, y,
        [](auto v, auto g, auto va, auto vb, auto vc) {
          return hn::MulAdd(g, va, hn::MulAdd(v, vc, vb));
        },
        x, dy, a, b, c);
  } else {
    map_row<T>(
        n, y, [](auto v, auto va, auto vb) { return hn::MulAdd(v, va, vb); }, x, a, b);
  }
}

#define TENON_NORM(T)                                                                             \
  void line_sums_##T(const T* x, const T* dy, T shift, int64_t n, double& sum, double& product) { \
    line_sums(x, dy, shift, n, sum, product);                                                     \
  }                                                                                               \
  void column_sums_##T(const T* x, const T* dy, const T* shift, int64_t rows, int64_t channels,   \
                       double* sums, double* products) {                                          \
    column_sums(x, dy, shift, rows, channels, sums, products);                                    \
  }                                                                                               \
  void affine_line_##T(const T* x, const T* dy, T a, T b, T c, T* y, int64_t n) {                 \
    affine_line(x, dy, a, b, c, y, n);                                                            \
  }                                                                                               \
  void affine_row_##T(const T* x, const T* dy, const T* a, const T* b, const T* c, T* y,          \
                      int64_t n) {                                                                \
    affine_row(x, dy, a, b, c, y, n);                                                             \
  }
TENON_NORM(float)
TENON_NORM(double)
#undef TENON_NORM

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {
namespace {

#define TENON_NORM(T)                                                                              \
  HWY_EXPORT(line_sums_##T);                                                                       \
  HWY_EXPORT(column_sums_##T);                                                                     \
  HWY_EXPORT(affine_line_##T);                                                                     \
  HWY_EXPORT(affine_row_##T);                                                                      \
  void sum_line(const T* x, const T* dy, T shift, int64_t n, double& sum, double& product) {       \
    HWY_DYNAMIC_DISPATCH(line_sums_##T)(x, dy, shift, n, sum, product);                            \
  }                                                                                                \
  void sum_columns(const T* x, const T* dy, const T* shift, int64_t rows, int64_t channels,        \
                   double* sums, double* products) {                                               \
    HWY_DYNAMIC_DISPATCH(column_sums_##T)(x, dy, shift, rows, channels, sums, products);           \
  }                                                                                                \
  void map_line(const T* x, const T* dy, T a, T b, T c, T* y, int64_t n) {                         \
    HWY_DYNAMIC_DISPATCH(affine_line_##T)(x, dy, a, b, c, y, n);                                   \
  }                                                                                                \
  void map_columns(const T* x, const T* dy, const T* a, const T* b, const T* c, T* y, int64_t n) { \
    HWY_DYNAMIC_DISPATCH(affine_row_##T)(x, dy, a, b, c, y, n);                                    \
  }
TENON_NORM(float)
TENON_NORM(double)
#undef TENON_NORM

constexpr int64_t kGrain = 32768;

int64_t grain_of(int64_t elements_each) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, elements_each));
}

}  // namespace

template <class T>
void channel_sums(const ChannelShape& s, const T* x, const T* dy, const T* shift, double* sums,
                  double* products) {
  std::fill_n(sums, s.channels, 0.0);
  std::fill_n(products, s.channels, 0.0);
  if (s.channels_last) {
    std::mutex mutex;
    parallel_for(0, s.count(), grain_of(s.channels), [&](int64_t begin, int64_t end) {
      std::vector<double> part(2 * s.channels, 0.0);
      sum_columns(x + begin * s.channels, dy ? dy + begin * s.channels : nullptr, shift,
                  end - begin, s.channels, part.data(), part.data() + s.channels);
      const std::lock_guard lock(mutex);
      for (int64_t c = 0; c < s.channels; ++c) {
        sums[c] += part[c];
        products[c] += part[s.channels + c];
      }
    });
    return;
  }
  parallel_for(0, s.channels, grain_of(s.count()), [&](int64_t begin, int64_t end) {
    for (int64_t b = 0; b < s.batch; ++b) {
      for (int64_t c = begin; c < end; ++c) {
        const int64_t at = (b * s.channels + c) * s.inner;
        sum_line(x + at, dy ? dy + at : nullptr, shift[c], s.inner, sums[c], products[c]);
      }
    }
  });
}

template <class T>
void channel_affine(const ChannelShape& s, const T* x, const T* dy, const T* a, const T* b,
                    const T* c, T* y) {
  if (s.channels_last) {
    parallel_for(0, s.count(), grain_of(s.channels), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t at = r * s.channels;
        map_columns(x + at, dy ? dy + at : nullptr, a, b, c, y + at, s.channels);
      }
    });
    return;
  }
  parallel_for(0, s.batch * s.channels, grain_of(s.inner), [&](int64_t begin, int64_t end) {
    for (int64_t l = begin; l < end; ++l) {
      const int64_t at = l * s.inner, channel = l % s.channels;
      map_line(x + at, dy ? dy + at : nullptr, a[channel], b[channel], c ? c[channel] : T(0),
               y + at, s.inner);
    }
  });
}

#define TENON_DEFINE(T)                                                                        \
  template void channel_sums<T>(const ChannelShape&, const T*, const T*, const T*, double*,    \
                                double*);                                                      \
  template void channel_affine<T>(const ChannelShape&, const T*, const T*, const T*, const T*, \
                                  const T*, T*);
TENON_DEFINE(float)
TENON_DEFINE(double)
#undef TENON_DEFINE

}  // namespace tenon::native
#endif

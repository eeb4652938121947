#include "aten/cpu/norm_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/norm_rows.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "aten/core/parallel.h"
#include "aten/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

constexpr auto kSum = [](auto a, auto b) { return hn::Add(a, b); };

template <class T>
void forward_rows(const T* x, const T* weight, const T* bias, T* y, T* means, T* rstds,
                  int64_t rows, int64_t n, double eps) {
  const RowTag<T> d;
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
    const T mean = sum_lanes<T>(reduce_row<T>(n, T(0), T(0), kSum, kSum, x)) / static_cast<T>(n);
    const auto vmean = hn::Set(d, mean);
    // A second pass over the row, which is in the first cache by now: exact where E[x^2] - mean^2
    // cancels.
    const auto squares = reduce_row<T>(
        n, T(0), mean,
        [&](auto acc, auto v) {
          const auto c = hn::Sub(v, vmean);
          return hn::MulAdd(c, c, acc);
        },
        kSum, x);
    const T rstd =
        static_cast<T>(1 / std::sqrt(static_cast<double>(sum_lanes<T>(squares)) / n + eps));
    means[r] = mean;
    rstds[r] = rstd;
    const auto vrstd = hn::Set(d, rstd);
    if (weight && bias) {
      map_row<T>(
          n, y,
          [&](auto v, auto w, auto b) {
            return hn::MulAdd(hn::Mul(hn::Sub(v, vmean), vrstd), w, b);
          },
          x, weight, bias);
    } else if (weight) {
      map_row<T>(
          n, y, [&](auto v, auto w) { return hn::Mul(hn::Mul(hn::Sub(v, vmean), vrstd), w); }, x,
          weight);
    } else if (bias) {
      map_row<T>(
          n, y, [&](auto v, auto b) { return hn::MulAdd(hn::Sub(v, vmean), vrstd, b); }, x, bias);
    } else {
      map_row<T>(
          n, y, [&](auto v) { return hn::Mul(hn::Sub(v, vmean), vrstd); }, x);
    }
  }
}

/// dweight and dbias are added to.
template <class T>
void backward_rows(const T* dy, const T* x, const T* means, const T* rstds, const T* weight, T* dx,
                   T* dweight, T* dbias, int64_t rows, int64_t n) {
  const RowTag<T> d;
  for (int64_t r = 0; r < rows; ++r, dy += n, x += n) {
    const T rstd = rstds[r];
    const auto vmean = hn::Set(d, means[r]), vrstd = hn::Set(d, rstd);
    if (dx) {
      // mean(g) and mean(g h); the row is read three times, from the first cache after the first.
      T sum, dot;
      if (weight) {
        sum = sum_lanes<T>(reduce_row<T>(
            n, T(0), T(0), [](auto acc, auto g, auto w) { return hn::MulAdd(g, w, acc); }, kSum, dy,
            weight));
        dot = sum_lanes<T>(reduce_row<T>(
            n, T(0), T(0),
            [&](auto acc, auto g, auto v, auto w) {
              return hn::MulAdd(hn::Mul(g, w), hn::Sub(v, vmean), acc);
            },
            kSum, dy, x, weight));
      } else {
        sum = sum_lanes<T>(reduce_row<T>(n, T(0), T(0), kSum, kSum, dy));
        dot = sum_lanes<T>(reduce_row<T>(
            n, T(0), T(0),
            [&](auto acc, auto g, auto v) { return hn::MulAdd(g, hn::Sub(v, vmean), acc); }, kSum,
            dy, x));
      }
      // dx = g rstd - h' a - b with h' = x - mean
      const T a = dot / static_cast<T>(n) * rstd * rstd * rstd;
      const auto va = hn::Set(d, a), vb = hn::Set(d, sum / static_cast<T>(n) * rstd);
      if (weight) {
        map_row<T>(
            n, dx + r * n,
            [&](auto g, auto v, auto w) {
              const auto scaled = hn::MulSub(hn::Mul(g, w), vrstd, vb);
              return hn::NegMulAdd(hn::Sub(v, vmean), va, scaled);
            },
            dy, x, weight);
      } else {
        map_row<T>(
            n, dx + r * n,
            [&](auto g, auto v) {
              return hn::NegMulAdd(hn::Sub(v, vmean), va, hn::MulSub(g, vrstd, vb));
            },
            dy, x);
      }
    }
    if (dweight) {
      map_row<T>(
          n, dweight,
          [&](auto acc, auto g, auto v) {
            return hn::MulAdd(hn::Mul(g, vrstd), hn::Sub(v, vmean), acc);
          },
          static_cast<const T*>(dweight), dy, x);
    }
    if (dbias) map_row<T>(n, dbias, kSum, static_cast<const T*>(dbias), dy);
  }
}

#define TENON_NORM(T)                                                                         \
  void forward_##T(const T* x, const T* w, const T* b, T* y, T* mean, T* rstd, int64_t rows,  \
                   int64_t n, double eps) {                                                   \
    forward_rows(x, w, b, y, mean, rstd, rows, n, eps);                                       \
  }                                                                                           \
  void backward_##T(const T* dy, const T* x, const T* mean, const T* rstd, const T* w, T* dx, \
                    T* dw, T* db, int64_t rows, int64_t n) {                                  \
    backward_rows(dy, x, mean, rstd, w, dx, dw, db, rows, n);                                 \
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
  HWY_EXPORT(forward_##T);                                                                         \
  HWY_EXPORT(backward_##T);                                                                        \
  void run(const T* x, const T* w, const T* b, T* y, T* mean, T* rstd, int64_t rows, int64_t n,    \
           double eps) {                                                                           \
    HWY_DYNAMIC_DISPATCH(forward_##T)(x, w, b, y, mean, rstd, rows, n, eps);                       \
  }                                                                                                \
  void run(const T* dy, const T* x, const T* mean, const T* rstd, const T* w, T* dx, T* dw, T* db, \
           int64_t rows, int64_t n) {                                                              \
    HWY_DYNAMIC_DISPATCH(backward_##T)(dy, x, mean, rstd, w, dx, dw, db, rows, n);                 \
  }
TENON_NORM(float)
TENON_NORM(double)
#undef TENON_NORM

constexpr int64_t kGrain = 32768;

}  // namespace

template <class T>
void layer_norm_forward(const T* x, const T* weight, const T* bias, T* y, T* mean, T* rstd,
                        int64_t rows, int64_t n, double eps) {
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(n, 1)),
               [&](int64_t begin, int64_t end) {
                 run(x + begin * n, weight, bias, y + begin * n, mean + begin, rstd + begin,
                     end - begin, n, eps);
               });
}

template <class T>
void layer_norm_backward(const T* dy, const T* x, const T* mean, const T* rstd, const T* weight,
                         T* dx, T* dweight, T* dbias, int64_t rows, int64_t n) {
  if (dweight) std::fill_n(dweight, n, T(0));
  if (dbias) std::fill_n(dbias, n, T(0));
  std::mutex mutex;
  parallel_for(0, rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(n, 1)),
               [&](int64_t begin, int64_t end) {
                 const auto part = [&](T* dw, T* db) {
                   run(dy + begin * n, x + begin * n, mean + begin, rstd + begin, weight,
                       dx ? dx + begin * n : nullptr, dw, db, end - begin, n);
                 };
                 if (begin == 0 && end == rows) return part(dweight, dbias);
                 std::vector<T> sums((dweight ? n : 0) + (dbias ? n : 0), T(0));
                 T* dw = dweight ? sums.data() : nullptr;
                 T* db = dbias ? sums.data() + (dweight ? n : 0) : nullptr;
                 part(dw, db);
                 const std::lock_guard lock(mutex);
                 for (int64_t i = 0; dw && i < n; ++i) dweight[i] += dw[i];
                 for (int64_t i = 0; db && i < n; ++i) dbias[i] += db[i];
               });
}

#define TENON_DEFINE(T)                                                                           \
  template void layer_norm_forward<T>(const T*, const T*, const T*, T*, T*, T*, int64_t, int64_t, \
                                      double);                                                    \
  template void layer_norm_backward<T>(const T*, const T*, const T*, const T*, const T*, T*, T*,  \
                                       T*, int64_t, int64_t);
TENON_DEFINE(float)
TENON_DEFINE(double)
#undef TENON_DEFINE

}  // namespace tenon::native
#endif

#include "aten/cpu/squared_error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/squared_error.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <mutex>

#include "aten/core/parallel.h"
#include "aten/cpu/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

template <class T>
double sum_piece(int64_t n, const T* a, const T* b) {
  const auto add = [](auto x, auto y) { return hn::Add(x, y); };
  return sum_lanes<T>(reduce_row<T>(
      n, T(0), T(0),
      [](auto acc, auto x, auto y) {
        const auto d = hn::Sub(x, y);
        return hn::MulAdd(d, d, acc);
      },
      add, a, b));
}

template <class T>
void map_piece(int64_t n, const T* a, const T* b, T* out) {
  map_row<T>(
      n, out,
      [](auto x, auto y) {
        const auto d = hn::Sub(x, y);
        return hn::Mul(d, d);
      },
      a, b);
}

template <class T>
void scale_piece(int64_t n, T factor, const T* a, const T* b, const T* g, T* out) {
  const auto f = hn::Set(RowTag<T>(), factor);
  if (g) {
    map_row<T>(
        n, out, [&](auto x, auto y, auto z) { return hn::Mul(hn::Mul(hn::Sub(x, y), f), z); }, a, b,
        g);
  } else {
    map_row<T>(
        n, out, [&](auto x, auto y) { return hn::Mul(hn::Sub(x, y), f); }, a, b);
  }
}

#define TENON_ERROR(T)                                                                 \
  double sum_##T(int64_t n, const T* a, const T* b) { return sum_piece(n, a, b); }     \
  void map_##T(int64_t n, const T* a, const T* b, T* out) { map_piece(n, a, b, out); } \
  void scale_##T(int64_t n, T factor, const T* a, const T* b, const T* g, T* out) {    \
    scale_piece(n, factor, a, b, g, out);                                              \
  }
TENON_ERROR(float)
TENON_ERROR(double)
#undef TENON_ERROR

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {
namespace {

#define TENON_ERROR(T)                                                              \
  HWY_EXPORT(sum_##T);                                                              \
  HWY_EXPORT(map_##T);                                                              \
  HWY_EXPORT(scale_##T);                                                            \
  double run_sum(int64_t n, const T* a, const T* b) {                               \
    return HWY_DYNAMIC_DISPATCH(sum_##T)(n, a, b);                                  \
  }                                                                                 \
  void run_map(int64_t n, const T* a, const T* b, T* out) {                         \
    HWY_DYNAMIC_DISPATCH(map_##T)(n, a, b, out);                                    \
  }                                                                                 \
  void run_scale(int64_t n, T factor, const T* a, const T* b, const T* g, T* out) { \
    HWY_DYNAMIC_DISPATCH(scale_##T)(n, factor, a, b, g, out);                       \
  }
TENON_ERROR(float)
TENON_ERROR(double)
#undef TENON_ERROR

constexpr int64_t kGrain = 65536;
constexpr int64_t kPiece = 4096;  // summed in T, the pieces in double

}  // namespace

template <class T>
double sum_squared_error(int64_t n, const T* a, const T* b) {
  double total = 0;
  std::mutex mutex;
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    double sum = 0;
    for (int64_t i = begin; i < end; i += kPiece)
      sum += run_sum(std::min(kPiece, end - i), a + i, b + i);
    const std::lock_guard lock(mutex);
    total += sum;
  });
  return total;
}

template <class T>
void squared_error(int64_t n, const T* a, const T* b, T* out) {
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    run_map(end - begin, a + begin, b + begin, out + begin);
  });
}

template <class T>
void scaled_difference(int64_t n, T factor, const T* a, const T* b, const T* g, T* out) {
  parallel_for(0, n, kGrain, [&](int64_t begin, int64_t end) {
    run_scale(end - begin, factor, a + begin, b + begin, g ? g + begin : nullptr, out + begin);
  });
}

#define TENON_DEFINE(T)                                              \
  template double sum_squared_error<T>(int64_t, const T*, const T*); \
  template void squared_error<T>(int64_t, const T*, const T*, T*);   \
  template void scaled_difference<T>(int64_t, T, const T*, const T*, const T*, T*);
TENON_DEFINE(float)
TENON_DEFINE(double)
#undef TENON_DEFINE

}  // namespace tenon::native
#endif

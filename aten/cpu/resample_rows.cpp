#include "aten/cpu/resample_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/resample_rows.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "aten/core/parallel.h"
#include "aten/cpu/row_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

/// kRows neighbouring rows of `length` elements, which share what is read of the map.
template <int kRows, class T>
void map_elements(const T* in, T* out, const LinearMap<T>& map) {
  for (int64_t i = 0; i < map.size; ++i) {
    T sums[kRows] = {};
    for (int64_t e = map.starts[i]; e < map.starts[i + 1]; ++e) {
      const T weight = map.weights[e];
      const T* from = in + map.indices[e];
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) sums[r] += weight * from[r * map.length];
    }
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) out[r * map.size + i] = sums[r];
  }
}

template <class T>
void map_last(const T* in, T* out, int64_t rows, const LinearMap<T>& map) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) map_elements<4>(in + r * map.length, out + r * map.size, map);
  for (; r < rows; ++r) map_elements<1>(in + r * map.length, out + r * map.size, map);
}

/// Element i of the map: `out` [inner] of `in` [length, inner].
template <class T>
void map_one(const T* in, T* out, int64_t i, int64_t inner, const LinearMap<T>& map) {
  const RowTag<T> d;
  int64_t e = map.starts[i];
  const int64_t end = map.starts[i + 1];
  if (e == end) {
    std::fill_n(out, inner, T(0));
    return;
  }
  const auto weight = [&](int64_t at) { return hn::Set(d, map.weights[at]); };
  const auto row = [&](int64_t at) { return in + map.indices[at] * inner; };
  if (end - e == 1) {
    const auto w = weight(e);
    map_row<T>(
        inner, out, [&](auto v) { return hn::Mul(w, v); }, row(e));
    return;
  }
  {
    const auto a = weight(e), b = weight(e + 1);
    map_row<T>(
        inner, out, [&](auto v, auto w) { return hn::MulAdd(b, w, hn::Mul(a, v)); }, row(e),
        row(e + 1));
  }
  for (e += 2; e + 1 < end; e += 2) {
    const auto a = weight(e), b = weight(e + 1);
    map_row<T>(
        inner, out,
        [&](auto sum, auto v, auto w) { return hn::MulAdd(b, w, hn::MulAdd(a, v, sum)); },
        static_cast<const T*>(out), row(e), row(e + 1));
  }
  if (e < end) {
    const auto a = weight(e);
    map_row<T>(
        inner, out, [&](auto sum, auto v) { return hn::MulAdd(a, v, sum); },
        static_cast<const T*>(out), row(e));
  }
}

#define TENON_RESAMPLE(T)                                                              \
  void map_last_##T(const T* in, T* out, int64_t rows, const LinearMap<T>& map) {      \
    map_last(in, out, rows, map);                                                      \
  }                                                                                    \
  void map_one_##T(const T* in, T* out, int64_t i, int64_t n, const LinearMap<T>& m) { \
    map_one(in, out, i, n, m);                                                         \
  }
TENON_RESAMPLE(float)
TENON_RESAMPLE(double)
#undef TENON_RESAMPLE

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {
namespace {

#define TENON_RESAMPLE(T)                                                            \
  HWY_EXPORT(map_last_##T);                                                          \
  HWY_EXPORT(map_one_##T);                                                           \
  void run_last(const T* in, T* out, int64_t rows, const LinearMap<T>& map) {        \
    HWY_DYNAMIC_DISPATCH(map_last_##T)(in, out, rows, map);                          \
  }                                                                                  \
  void run_one(const T* in, T* out, int64_t i, int64_t n, const LinearMap<T>& map) { \
    HWY_DYNAMIC_DISPATCH(map_one_##T)(in, out, i, n, map);                           \
  }
TENON_RESAMPLE(float)
TENON_RESAMPLE(double)
#undef TENON_RESAMPLE

constexpr int64_t kGrain = 16384;  // elements for which another thread pays

}  // namespace

template <class T>
void resample_rows(const T* in, T* out, int64_t outer, int64_t inner, const LinearMap<T>& map) {
  if (outer * map.size * inner == 0) return;
  if (inner == 1) {
    parallel_for(0, outer, std::max<int64_t>(1, kGrain / map.size),
                 [&](int64_t begin, int64_t end) {
                   run_last(in + begin * map.length, out + begin * map.size, end - begin, map);
                 });
    return;
  }
  parallel_for(0, outer * map.size, std::max<int64_t>(1, kGrain / inner),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const T* from = in + r / map.size * map.length * inner;
                   run_one(from, out + r * inner, r % map.size, inner, map);
                 }
               });
}

template void resample_rows(const float*, float*, int64_t, int64_t, const LinearMap<float>&);
template void resample_rows(const double*, double*, int64_t, int64_t, const LinearMap<double>&);

}  // namespace tenon::native
#endif

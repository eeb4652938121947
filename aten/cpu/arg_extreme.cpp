#include "aten/cpu/arg_extreme.h"

#include <algorithm>

#include "aten/core/parallel.h"
#include "aten/cpu/strided_dim.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/arg_extreme.cpp"
#include "aten/core/simd_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

template <class T>
inline constexpr int64_t kLanes = 256 / sizeof(T);

template <class T, bool kMax>
HWY_INLINE T best_of(T a, T b) {
  // Two selections vectorise where `||` does not.
  const T best = (kMax ? b > a : b < a) ? b : a;
  return b != b ? b : best;
}

template <class T, bool kMax>
HWY_INLINE bool better(T candidate, T best) {
  return (kMax ? candidate > best : candidate < best) | ((candidate != candidate) & (best == best));
}

/// Best of the elements from i on, as many as fill whole vectors; i is moved past them. At least
/// kLanes.
template <class T, bool kMax>
HWY_INLINE T best_of_lanes(const T* HWY_RESTRICT p, int64_t& i, int64_t end) {
  alignas(64) T lanes[kLanes<T>];
  if constexpr (std::is_floating_point_v<T>) {
    namespace hn = hwy::HWY_NAMESPACE;
    const hn::CappedTag<T, kLanes<T> / 4> d;
    const auto width = static_cast<int64_t>(hn::Lanes(d));
    const auto combine = [](auto a, auto b) HWY_ATTR {
      const auto best = hn::IfThenElse(kMax ? hn::Gt(b, a) : hn::Lt(b, a), b, a);
      return hn::IfThenElse(hn::IsNaN(b), b, best);
    };
    std::copy(p + i, p + i + kLanes<T>, lanes);
    auto a0 = hn::LoadU(d, p + i), a1 = hn::LoadU(d, p + i + width);
    auto a2 = hn::LoadU(d, p + i + 2 * width), a3 = hn::LoadU(d, p + i + 3 * width);
    for (i += 4 * width; i + 4 * width <= end; i += 4 * width) {
      a0 = combine(a0, hn::LoadU(d, p + i));
      a1 = combine(a1, hn::LoadU(d, p + i + width));
      a2 = combine(a2, hn::LoadU(d, p + i + 2 * width));
      a3 = combine(a3, hn::LoadU(d, p + i + 3 * width));
    }
    hn::StoreU(combine(a0, a1), d, lanes);
    hn::StoreU(combine(a2, a3), d, lanes + width);
  } else {
    for (int64_t j = 0; j < kLanes<T>; ++j) lanes[j] = p[i + j];
    for (i += kLanes<T>; i + kLanes<T> <= end; i += kLanes<T>) {
      for (int64_t j = 0; j < kLanes<T>; ++j) lanes[j] = best_of<T, kMax>(lanes[j], p[i + j]);
    }
  }
  for (int64_t w = kLanes<T> / 2; w > 0; w /= 2) {
    for (int64_t j = 0; j < w; ++j) lanes[j] = best_of<T, kMax>(lanes[j], lanes[j + w]);
  }
  return lanes[0];
}

/// Index of the first best element of a contiguous row: the best value of each block first, then
/// its place.
template <class T, bool kMax>
int64_t best_in_row(const T* HWY_RESTRICT p, int64_t n) {
  constexpr int64_t kBlock = 16 * kLanes<T>;
  int64_t best_block = 0;
  T best = p[0];
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    T value = p[begin];
    int64_t i = begin;
    if (end - begin >= kLanes<T>) value = best_of_lanes<T, kMax>(p, i, end);
    for (; i < end; ++i) value = better<T, kMax>(p[i], value) ? p[i] : value;
    if (begin > 0 && !better<T, kMax>(value, best)) continue;
    best = value;
    best_block = begin;
    if (value != value) break;
  }
  int64_t i = best_block;
  if (best != best) {
    while (p[i] == p[i]) ++i;
  } else {
    while (p[i] != best) ++i;
  }
  return i;
}

/// One vector of columns at a time down the rows; Index as wide as T where the rows can be counted
/// in it.
template <class T, class Index, bool kMax>
void best_in_columns(const T* p, int64_t pitch, int64_t rows, int64_t n, T* values,
                     int64_t* indices) {
  constexpr int64_t kColumns = 512;
  alignas(64) T best[kColumns];
  alignas(64) Index at[kColumns];
  for (int64_t begin = 0; begin < n; begin += kColumns) {
    const int64_t m = std::min(kColumns, n - begin);
    const T* q = p + begin;
    for (int64_t j = 0; j < m; ++j) {
      best[j] = q[j];
      at[j] = 0;
    }
    for (int64_t r = 1; r < rows; ++r) {
      q += pitch;
      const Index row = static_cast<Index>(r);
      for (int64_t j = 0; j < m; ++j) {
        const bool take = better<T, kMax>(q[j], best[j]);
        best[j] = take ? q[j] : best[j];
        at[j] = take ? row : at[j];
      }
    }
    if (values) std::copy(best, best + m, values + begin);
    if (indices) std::copy(at, at + m, indices + begin);
  }
}

template <class T, bool kMax>
void run(const void* in, int64_t outer, int64_t length, int64_t inner, void* values,
         int64_t* indices) {
  const T* p = static_cast<const T*>(in);
  T* v = static_cast<T*>(values);
  const int64_t grain = std::max<int64_t>(1, 32768 / std::max<int64_t>(length, 1));
  if (inner == 1) {
    parallel_for(0, outer, grain, [=](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* row = p + i * length;
        const int64_t at = best_in_row<T, kMax>(row, length);
        if (v) v[i] = row[at];
        if (indices) indices[i] = at;
      }
    });
    return;
  }
  using Narrow = std::conditional_t<(sizeof(T) >= 8), int64_t, int32_t>;
  // Pieces of columns, so that one long outer index is enough for all threads.
  const int64_t share =
      std::clamp<int64_t>((inner + get_num_threads() - 1) / get_num_threads(), 64, 4096);
  const int64_t pieces = (inner + share - 1) / share;
  parallel_for(0, outer * pieces, std::max<int64_t>(1, grain / share),
               [=](int64_t begin, int64_t end) {
                 for (int64_t k = begin; k < end; ++k) {
                   const int64_t o = k / pieces;
                   const int64_t start = k % pieces * share;
                   const int64_t n = std::min(share, inner - start);
                   T* out = v ? v + o * inner + start : nullptr;
                   int64_t* at = indices ? indices + o * inner + start : nullptr;
                   const T* from = p + o * length * inner + start;
                   if (length < (int64_t{1} << 31)) {
                     best_in_columns<T, Narrow, kMax>(from, inner, length, n, out, at);
                   } else {
                     best_in_columns<T, int64_t, kMax>(from, inner, length, n, out, at);
                   }
                 }
               });
}

using Run = void (*)(const void*, int64_t, int64_t, int64_t, void*, int64_t*);

Run runner(ScalarType type, bool max) {
  return TENON_DISPATCH_SWITCH(
      type, "max",
      TENON_FORALL_INTEGRAL(TENON_DISPATCH_CASE) TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)
          TENON_DISPATCH_CASE(bool, Bool),
      {
        // bool as bytes: both order alike.
        using T = std::conditional_t<std::is_same_v<scalar_t, bool>, uint8_t, scalar_t>;
        return static_cast<Run>(max ? run<T, true> : run<T, false>);
      });
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {

HWY_EXPORT(runner);

namespace {

/// Where the loops write to: the output itself if it is laid out as they do.
TensorBase target(const TensorBase& out, ScalarType type) {
  if (!out.defined() || (out.is_contiguous() && out.scalar_type() == type)) return out;
  return tenon::empty(out.sizes(), type, kCPU);
}

}  // namespace

void arg_extreme(const TensorBase& self, int64_t dim, bool max, const TensorBase& values,
                 const TensorBase& indices) {
  // Half types keep their order in float, and values come back exactly.
  const ScalarType type =
      is_reduced_floating_point(self.scalar_type()) ? kFloat : self.scalar_type();
  const TensorBase in = dense(self, type);
  int64_t outer = 1;
  int64_t inner = 1;
  for (int64_t i = 0; i < in.dim(); ++i) (i < dim ? outer : inner) *= i == dim ? 1 : in.sizes()[i];
  const int64_t length = in.dim() == 0 ? 1 : in.sizes()[dim];
  if (outer * inner == 0) return;
  const TensorBase v = target(values, type);
  const TensorBase at = target(indices, kLong);
  HWY_DYNAMIC_DISPATCH(runner)
  (type, max)(in.const_data_ptr(), outer, length, inner,
              v.defined() ? v.mutable_data_ptr() : nullptr,
              at.defined() ? static_cast<int64_t*>(at.mutable_data_ptr()) : nullptr);
  if (v.defined() && !v.is_same(values)) native::copy(values, v);
  if (at.defined() && !at.is_same(indices)) native::copy(indices, at);
}

}  // namespace tenon::native
#endif

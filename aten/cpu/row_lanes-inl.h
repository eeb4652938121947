#if defined(TENON_ATEN_CPU_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_ATEN_CPU_ROWS_INL_H_
#undef TENON_ATEN_CPU_ROWS_INL_H_
#else
#define TENON_ATEN_CPU_ROWS_INL_H_
#endif

// Loops over a row of float or double: reductions and elementwise passes with the rest of the row
// handled by the same expression on a padded vector. Included once per Highway target.

#include <hwy/highway.h>

#include "aten/cpu/vec/part-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using RowTag = hn::ScalableTag<T>;
template <class T>
using RowVec = hn::Vec<RowTag<T>>;
template <class T>
inline constexpr int64_t kRowLanes = static_cast<int64_t>(HWY_MAX_BYTES / sizeof(T));

/// out[i] = f(in[i]...) for i < n.
template <class T, class F, class... In>
HWY_INLINE void map_row(int64_t n, T* out, F&& f, const In*... in) {
  const RowTag<T> d;
  constexpr int64_t kN = kRowLanes<T>;
  int64_t i = 0;
  for (; i + 2 * kN <= n; i += 2 * kN) {
    const auto a = f(hn::LoadU(d, in + i)...);
    const auto b = f(hn::LoadU(d, in + i + kN)...);
    hn::StoreU(a, d, out + i);
    hn::StoreU(b, d, out + i + kN);
  }
  for (; i + kN <= n; i += kN) hn::StoreU(f(hn::LoadU(d, in + i)...), d, out + i);
  if (i < n) store_part(f(load_part(d, in + i, n - i, T(0))...), d, out + i, n - i);
}

/// Combines f(acc, in[i]...) over the row; `rest` are the operands' values beyond its end, which
/// must not change the result. Four accumulators hide the latency.
template <class T, class F, class G, class... In>
HWY_INLINE RowVec<T> reduce_row(int64_t n, T start, T rest, F&& f, G&& combine, const In*... in) {
  const RowTag<T> d;
  constexpr int64_t kN = kRowLanes<T>;
  RowVec<T> a0 = hn::Set(d, start), a1 = a0, a2 = a0, a3 = a0;
  int64_t i = 0;
  for (; i + 4 * kN <= n; i += 4 * kN) {
    a0 = f(a0, hn::LoadU(d, in + i)...);
    a1 = f(a1, hn::LoadU(d, in + i + kN)...);
    a2 = f(a2, hn::LoadU(d, in + i + 2 * kN)...);
    a3 = f(a3, hn::LoadU(d, in + i + 3 * kN)...);
  }
  for (; i + kN <= n; i += kN) a0 = f(a0, hn::LoadU(d, in + i)...);
  if (i < n) a1 = f(a1, load_part(d, in + i, n - i, rest)...);
  return combine(combine(a0, a1), combine(a2, a3));
}

template <class T>
HWY_INLINE T sum_lanes(RowVec<T> v) {
  const RowTag<T> d;
  return hn::GetLane(hn::SumOfLanes(d, v));
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif

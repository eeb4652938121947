#include "aten/cpu/max_pool_plane.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/max_pool_plane.cpp"
#include "aten/cpu/vec/targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Eight lanes: the rows of small images are too short for more.
using PoolTag = hn::CappedTag<float, 8>;

/// Every kStride-th value from p on.
template <int kStride>
HWY_INLINE hn::Vec<PoolTag> load_strided(const float* p) {
  const PoolTag d;
  if constexpr (kStride == 1) {
    return hn::LoadU(d, p);
  } else {
    hn::Vec<PoolTag> even, odd;
    hn::LoadInterleaved2(d, p, even, odd);
    return even;
  }
}

template <int kStride>
int64_t row_strided(const meta::Pool2d& p, const float* in, int64_t row, int64_t first, int64_t last, float* out,
                 int64_t* indices) {
  const PoolTag d;
  const hn::RebindToSigned<PoolTag> di;
  constexpr int64_t kN = HWY_MIN(8, HWY_MAX_BYTES / 4);
  // A load of stride 2 reads one value beyond the last it needs, which must still be in the row.
  const int64_t reach = kStride * kN - 1;
  while (last > first &&
         (last - 1) * kStride - (kN - 1) * kStride - p.pad_w + (p.kernel_w - 1) * p.dilation_w + reach >= p.in_w) {
    --last;
  }
  if (last - first < kN) return first;
  const int64_t top = row * p.stride_h - p.pad_h;
  const auto steps = hn::Mul(hn::Iota(di, 0), hn::Set(di, kStride));
  for (int64_t o = first; o < last; o += kN) {
    const int64_t at = std::min(o, last - kN);  // the last vector overlaps the one before
    const int64_t left = at * kStride - p.pad_w;
    auto max = hn::Set(d, 0.0f);
    auto best = hn::Zero(di);
    bool started = false;
    for (int64_t kh = 0; kh < p.kernel_h; ++kh) {
      const int64_t h = top + kh * p.dilation_h;
      if (h < 0 || h >= p.in_h) continue;
      for (int64_t kw = 0; kw < p.kernel_w; ++kw) {
        const int64_t position = h * p.in_w + left + kw * p.dilation_w;
        const auto v = load_strided<kStride>(in + position);
        const auto index = hn::Add(steps, hn::Set(di, static_cast<int32_t>(position)));
        if (!started) {
          max = v;
          best = index;
          started = true;
          continue;
        }
        const auto better = hn::Or(hn::Gt(v, max), hn::IsNaN(v));
        max = hn::IfThenElse(better, v, max);
        best = hn::IfThenElse(hn::RebindMask(di, better), index, best);
      }
    }
    if (!started) return first;
    hn::StoreU(max, d, out + at);
    HWY_ALIGN int32_t positions[kN];
    hn::Store(best, di, positions);
    for (int64_t i = 0; i < kN; ++i) indices[at + i] = positions[i];
  }
  return last;
}

int64_t max_pool_row_impl(const meta::Pool2d& p, const float* in, int64_t row, int64_t first, int64_t last,
                       float* out, int64_t* indices) {
  if (p.stride_w == 1) return row_strided<1>(p, in, row, first, last, out, indices);
  if (p.stride_w == 2) return row_strided<2>(p, in, row, first, last, out, indices);
  return first;
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {

HWY_EXPORT(max_pool_row_impl);

int64_t max_pool_row(const meta::Pool2d& p, const float* in, int64_t row, int64_t first, int64_t last, float* out,
                  int64_t* indices) {
  return HWY_DYNAMIC_DISPATCH(max_pool_row_impl)(p, in, row, first, last, out, indices);
}

}  // namespace tenon::native
#endif

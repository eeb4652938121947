#include "aten/cpu/max_pool_plane.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/max_pool_plane.cpp"
#include "aten/core/simd_targets.h"
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

/// Output columns [at, at + lanes) of one row.
template <int kStride>
HWY_INLINE void one_vector(const meta::Pool2d& p, const float* in, int64_t row, int64_t at,
                           float* out, int64_t* indices) {
  const PoolTag d;
  const hn::RebindToSigned<PoolTag> di;
  const hn::Half<decltype(di)> dh;
  const hn::Rebind<int64_t, decltype(dh)> dl;
  const int64_t top = row * p.stride_h - p.pad_h, left = at * kStride - p.pad_w;
  const int64_t h0 = std::max<int64_t>(top, 0), h1 = std::min(top + p.kernel_h, p.in_h);
  const auto steps = hn::Mul(hn::Iota(di, 0), hn::Set(di, kStride));
  auto max = load_strided<kStride>(in + h0 * p.in_w + left);
  auto best = hn::Set(di, static_cast<int32_t>(h0 * p.in_w + left));
  for (int64_t h = h0; h < h1; ++h) {
    for (int64_t kw = 0; kw < p.kernel_w; ++kw) {
      const int64_t position = h * p.in_w + left + kw * p.dilation_w;
      const auto v = load_strided<kStride>(in + position);
      const auto better = hn::Or(hn::Gt(v, max), hn::IsNaN(v));
      max = hn::IfThenElse(better, v, max);
      best = hn::IfThenElse(hn::RebindMask(di, better), hn::Set(di, static_cast<int32_t>(position)),
                            best);
    }
  }
  best = hn::Add(best, steps);
  out += row * p.out_w + at;
  indices += row * p.out_w + at;
  hn::StoreU(max, d, out);
  hn::StoreU(hn::PromoteTo(dl, hn::LowerHalf(dh, best)), dl, indices);
  hn::StoreU(hn::PromoteTo(dl, hn::UpperHalf(dh, best)), dl, indices + hn::Lanes(dl));
}

template <int kStride>
int64_t columns_strided(const meta::Pool2d& p, const float* in, int64_t first, int64_t last,
                        float* out, int64_t* indices) {
  constexpr int64_t kN = HWY_MIN(8, HWY_MAX_BYTES / 4);
  // A load of stride 2 reads one value beyond the last it needs, which must still be in the row.
  const int64_t reach = kStride * kN - 1 + (p.kernel_w - 1) * p.dilation_w - p.pad_w;
  while (last - first >= kN && (last - kN) * kStride + reach >= p.in_w) --last;
  if (last - first < kN) return first;
  for (int64_t row = 0; row < p.out_h; ++row) {
    for (int64_t o = first; o < last; o += kN) {
      // The last vector overlaps the one before.
      one_vector<kStride>(p, in, row, std::min(o, last - kN), out, indices);
    }
  }
  return last;
}

int64_t max_pool_columns_impl(const meta::Pool2d& p, const float* in, int64_t first, int64_t last,
                              float* out, int64_t* indices) {
  if (p.dilation_h != 1) return first;
  if (p.stride_w == 1) return columns_strided<1>(p, in, first, last, out, indices);
  if (p.stride_w == 2) return columns_strided<2>(p, in, first, last, out, indices);
  return first;
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {

HWY_EXPORT(max_pool_columns_impl);

int64_t max_pool_columns(const meta::Pool2d& p, const float* in, int64_t first, int64_t last,
                         float* out, int64_t* indices) {
  return HWY_DYNAMIC_DISPATCH(max_pool_columns_impl)(p, in, first, last, out, indices);
}

}  // namespace tenon::native
#endif

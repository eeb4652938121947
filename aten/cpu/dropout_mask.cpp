#include "aten/cpu/dropout_mask.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/dropout_mask.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A permutation of 32-bit numbers that mixes well (Wellons, "Prospecting for Hash Functions",
/// 2018).
template <class V>
HWY_INLINE V mix(V x) {
  const hn::DFromV<V> d;
  x = hn::Xor(x, hn::ShiftRight<16>(x));
  x = hn::Mul(x, hn::Set(d, 0x7feb352du));
  x = hn::Xor(x, hn::ShiftRight<15>(x));
  x = hn::Mul(x, hn::Set(d, 0x846ca68bu));
  return hn::Xor(x, hn::ShiftRight<16>(x));
}

void draw_mask_impl(uint64_t key, uint64_t first, double p, bool* keep, int64_t n) {
  const hn::ScalableTag<uint32_t> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<uint8_t, decltype(d)> d8;
  constexpr int64_t kN = HWY_MAX_BYTES / 4;
  // Two keys and two rounds: 64 bits decide the sequence, not the counter's 32 alone. Signed
  // comparison of numbers with the top bit turned is unsigned comparison.
  const auto low = hn::Set(d, static_cast<uint32_t>(key));
  const uint32_t limit = static_cast<uint32_t>(std::min(p * 4294967296.0, 4294967295.0));
  const auto bound = hn::Set(di, static_cast<int32_t>(limit ^ 0x80000000u));
  const auto top = hn::Set(d, 0x80000000u);
  const auto lanes = hn::Iota(d, 0);
  for (int64_t i = 0; i < n; i += kN) {
    const uint64_t at = first + static_cast<uint64_t>(i);
    const auto high = hn::Set(d, static_cast<uint32_t>(key >> 32) ^
                                     (static_cast<uint32_t>(at >> 32) * 0x9e3779b9u));
    const auto counter = hn::Add(hn::Set(d, static_cast<uint32_t>(at)), lanes);
    const auto bits = mix(hn::Add(mix(hn::Xor(counter, low)), high));
    const auto dropped = hn::Lt(hn::BitCast(di, hn::Xor(bits, top)), bound);
    const auto bytes = hn::DemoteTo(d8, hn::IfThenElse(dropped, hn::Zero(di), hn::Set(di, 1)));
    if (i + kN <= n) {
      hn::StoreU(bytes, d8, reinterpret_cast<uint8_t*>(keep + i));
    } else {
      HWY_ALIGN uint8_t rest[kN];
      hn::StoreU(bytes, d8, rest);
      std::memcpy(keep + i, rest, n - i);
    }
  }
}

template <class T>
void apply(const T* HWY_RESTRICT in, const bool* HWY_RESTRICT keep, T scale, T* HWY_RESTRICT out,
           int64_t n) {
  const uint8_t* HWY_RESTRICT bytes = reinterpret_cast<const uint8_t*>(keep);
  for (int64_t i = 0; i < n; ++i)
    out[i] = in[i] * (static_cast<T>(static_cast<int32_t>(bytes[i])) * scale);
}

void apply_float(const float* in, const bool* keep, float scale, float* out, int64_t n) {
  apply(in, keep, scale, out, n);
}
void apply_double(const double* in, const bool* keep, double scale, double* out, int64_t n) {
  apply(in, keep, scale, out, n);
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {

HWY_EXPORT(draw_mask_impl);
HWY_EXPORT(apply_float);
HWY_EXPORT(apply_double);

void draw_mask(uint64_t key, uint64_t first, double p, bool* keep, int64_t n) {
  HWY_DYNAMIC_DISPATCH(draw_mask_impl)(key, first, p, keep, n);
}
void apply_mask(const float* in, const bool* keep, float scale, float* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(apply_float)(in, keep, scale, out, n);
}
void apply_mask(const double* in, const bool* keep, double scale, double* out, int64_t n) {
  HWY_DYNAMIC_DISPATCH(apply_double)(in, keep, scale, out, n);
}

}  // namespace tenon::native
#endif

#include "aten/cpu/sort_keys.h"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/sort_keys.cpp"
#include "aten/core/simd_targets.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

/// Positive floats order as their bits do; negative ones the other way round.
HWY_INLINE uint32_t key_of(float x) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, x + 0.0f);  // -0 + 0 = 0
  const uint32_t flipped =
      bits ^ (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) | 0x80000000u);
  return x != x ? ~0u : flipped;
}
HWY_INLINE uint64_t key_of(double x) {
  const uint64_t bits = __builtin_bit_cast(uint64_t, x + 0.0);
  const uint64_t flipped =
      bits ^ (static_cast<uint64_t>(static_cast<int64_t>(bits) >> 63) | 0x8000000000000000u);
  return x != x ? ~uint64_t{0} : flipped;
}
HWY_INLINE uint32_t key_of(Half x) { return key_of(static_cast<float>(x)); }
HWY_INLINE uint32_t key_of(BFloat16 x) { return key_of(static_cast<float>(x)); }
HWY_INLINE uint64_t key_of(int64_t x) { return static_cast<uint64_t>(x) ^ 0x8000000000000000u; }
template <class T>
HWY_INLINE uint32_t key_of(T x) {
  return static_cast<uint32_t>(static_cast<int32_t>(x)) ^ 0x80000000u;
}

template <class T, class K>
void keys(const void* values, int64_t n, bool inverted, K* HWY_RESTRICT out) {
  const T* HWY_RESTRICT p = static_cast<const T*>(values);
  const K flip = inverted ? ~K{0} : K{0};
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<K>(key_of(p[i])) ^ flip;
}

void short_keys(ScalarType type, const void* values, int64_t n, bool inverted, uint32_t* out) {
  TENON_DISPATCH_REAL(type, "sort", {
    if constexpr (sizeof(scalar_t) <= 4) keys<scalar_t>(values, n, inverted, out);
  });
}

void long_keys(ScalarType type, const void* values, int64_t n, bool inverted, uint64_t* out) {
  TENON_DISPATCH_REAL(type, "sort", {
    if constexpr (sizeof(scalar_t) == 8) keys<scalar_t>(values, n, inverted, out);
  });
}

uint32_t smallest_key(const uint32_t* keys, int64_t n) {
  uint32_t lanes[64];
  std::fill(lanes, lanes + 64, ~0u);
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    for (int64_t j = 0; j < 64; ++j) lanes[j] = keys[i + j] < lanes[j] ? keys[i + j] : lanes[j];
  }
  uint32_t best = *std::min_element(lanes, lanes + 64);
  for (; i < n; ++i) best = std::min(best, keys[i]);
  return best;
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {

HWY_EXPORT(short_keys);
HWY_EXPORT(long_keys);
HWY_EXPORT(smallest_key);

bool has_short_keys(ScalarType type) { return element_size(type) <= 4; }

void make_keys(ScalarType type, const void* values, int64_t n, bool inverted, uint32_t* keys) {
  HWY_DYNAMIC_DISPATCH(short_keys)(type, values, n, inverted, keys);
}

void make_keys(ScalarType type, const void* values, int64_t n, bool inverted, uint64_t* keys) {
  HWY_DYNAMIC_DISPATCH(long_keys)(type, values, n, inverted, keys);
}

uint32_t smallest(const uint32_t* keys, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(smallest_key)(keys, n);
}

}  // namespace tenon::native
#endif

#include "aten/cpu/integer_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/integer_product.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class W>
int64_t panel_of() {
  return 2 * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<W>()));
}

/// kRows rows of one panel; `width` is the panel's, `row` the distance of rows of out.
template <int kRows, class W>
void tile(int64_t k, const W* HWY_RESTRICT a, const W* HWY_RESTRICT b, W* HWY_RESTRICT out,
          int64_t row) {
  const hn::ScalableTag<W> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[kRows][2];
  for (auto& s : sums) s[0] = s[1] = hn::Zero(d);
  for (int64_t p = 0; p < k; ++p, b += 2 * lanes) {
    const auto b0 = hn::LoadU(d, b), b1 = hn::LoadU(d, b + lanes);
#pragma GCC unroll 4
    for (int i = 0; i < kRows; ++i) {
      const auto x = hn::Set(d, a[i * k + p]);
      sums[i][0] = hn::Add(sums[i][0], hn::Mul(x, b0));
      sums[i][1] = hn::Add(sums[i][1], hn::Mul(x, b1));
    }
  }
  for (int i = 0; i < kRows; ++i) {
    hn::StoreU(sums[i][0], d, out + i * row);
    hn::StoreU(sums[i][1], d, out + i * row + lanes);
  }
}

template <class W>
void product_of(int64_t m, int64_t panels, int64_t k, const W* a, const W* b, W* out) {
  const int64_t width = panel_of<W>(), row = panels * width;
  for (int64_t j = 0; j < panels; ++j) {
    const W* panel = b + j * k * width;
    int64_t i = 0;
    for (; i + 4 <= m; i += 4) tile<4>(k, a + i * k, panel, out + i * row + j * width, row);
    for (; i < m; ++i) tile<1>(k, a + i * k, panel, out + i * row + j * width, row);
  }
}

int64_t panel_32() { return panel_of<uint32_t>(); }
int64_t panel_64() { return panel_of<uint64_t>(); }
void product_32(int64_t m, int64_t panels, int64_t k, const uint32_t* a, const uint32_t* b,
                uint32_t* out) {
  product_of(m, panels, k, a, b, out);
}
void product_64(int64_t m, int64_t panels, int64_t k, const uint64_t* a, const uint64_t* b,
                uint64_t* out) {
  product_of(m, panels, k, a, b, out);
}

}  // namespace
}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {

HWY_EXPORT(panel_32);
HWY_EXPORT(panel_64);
HWY_EXPORT(product_32);
HWY_EXPORT(product_64);

template <>
int64_t integer_panel<uint32_t>() {
  return HWY_DYNAMIC_DISPATCH(panel_32)();
}
template <>
int64_t integer_panel<uint64_t>() {
  return HWY_DYNAMIC_DISPATCH(panel_64)();
}
template <>
void integer_product<uint32_t>(int64_t m, int64_t panels, int64_t k, const uint32_t* a,
                               const uint32_t* b, uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(product_32)(m, panels, k, a, b, out);
}
template <>
void integer_product<uint64_t>(int64_t m, int64_t panels, int64_t k, const uint64_t* a,
                               const uint64_t* b, uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(product_64)(m, panels, k, a, b, out);
}

}  // namespace tenon::native
#endif

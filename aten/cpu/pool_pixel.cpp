#include "aten/cpu/pool_pixel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/pool_pixel.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
HWY_INLINE void average(const T* HWY_RESTRICT image, int64_t width, int64_t channels,
                        const AverageWindow& a, T* HWY_RESTRICT out) {
  if (a.empty()) return std::fill_n(out, channels, T(0)), void();
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto divisor = static_cast<T>(a.divisor);
  int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    auto sum = hn::Zero(d);
    for (int64_t h = a.h0; h < a.h1; ++h) {
      const T* p = image + (h * width + a.w0) * channels + c;
      for (int64_t w = a.w0; w < a.w1; ++w, p += channels) sum = hn::Add(sum, hn::LoadU(d, p));
    }
    hn::StoreU(hn::Div(sum, hn::Set(d, divisor)), d, out + c);
  }
  for (; c < channels; ++c) {
    T sum = 0;
    for (int64_t h = a.h0; h < a.h1; ++h) {
      for (int64_t w = a.w0; w < a.w1; ++w) sum += image[(h * width + w) * channels + c];
    }
    out[c] = sum / divisor;
  }
}

void average_single(const float* image, int64_t width, int64_t channels, const AverageWindow& a,
                    float* out) {
  average(image, width, channels, a, out);
}
void average_double(const double* image, int64_t width, int64_t channels, const AverageWindow& a,
                    double* out) {
  average(image, width, channels, a, out);
}

void max_single(const float* HWY_RESTRICT image, int64_t width, int64_t channels,
                const MaxWindow& a, float* HWY_RESTRICT out, int64_t* HWY_RESTRICT index) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Half<decltype(di)> dh;
  const hn::Rebind<int64_t, decltype(dh)> dl;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t first = a.h0 * width + a.w0;
  int64_t c = 0;
  for (; c + lanes <= channels; c += lanes) {
    auto max = hn::Neg(hn::Inf(d));
    auto best = hn::Set(di, static_cast<int32_t>(first));
    for (int64_t h = a.h0; h < a.h1; h += a.step_h) {
      for (int64_t w = a.w0; w < a.w1; w += a.step_w) {
        const int64_t position = h * width + w;
        const auto v = hn::LoadU(d, image + position * channels + c);
        const auto better = hn::Or(hn::Gt(v, max), hn::IsNaN(v));
        max = hn::IfThenElse(better, v, max);
        best = hn::IfThenElse(hn::RebindMask(di, better),
                              hn::Set(di, static_cast<int32_t>(position)), best);
      }
    }
    hn::StoreU(max, d, out + c);
    hn::StoreU(hn::PromoteTo(dl, hn::LowerHalf(dh, best)), dl, index + c);
    hn::StoreU(hn::PromoteTo(dl, hn::UpperHalf(dh, best)), dl, index + c + lanes / 2);
  }
  for (; c < channels; ++c) {
    float max = -std::numeric_limits<float>::infinity();
    int64_t best = first;
    for (int64_t h = a.h0; h < a.h1; h += a.step_h) {
      for (int64_t w = a.w0; w < a.w1; w += a.step_w) {
        const float v = image[(h * width + w) * channels + c];
        if (v > max || v != v) max = v, best = h * width + w;
      }
    }
    out[c] = max;
    index[c] = best;
  }
}

}  // namespace
}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {

HWY_EXPORT(average_single);
HWY_EXPORT(average_double);
HWY_EXPORT(max_single);

void average_pixel(const float* image, int64_t width, int64_t channels, const AverageWindow& window,
                   float* out) {
  HWY_DYNAMIC_DISPATCH(average_single)(image, width, channels, window, out);
}
void average_pixel(const double* image, int64_t width, int64_t channels,
                   const AverageWindow& window, double* out) {
  HWY_DYNAMIC_DISPATCH(average_double)(image, width, channels, window, out);
}
void max_pixel(const float* image, int64_t width, int64_t channels, const MaxWindow& window,
               float* out, int64_t* index) {
  HWY_DYNAMIC_DISPATCH(max_single)(image, width, channels, window, out, index);
}

}  // namespace tenon::native
#endif

#include "aten/cpu/conv_depthwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/conv_depthwise.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/core/parallel.h"
#include "aten/cpu/gemm_tile-inl.h"

#ifndef TENON_ATEN_CPU_CONV_DEPTHWISE_PLANE
#define TENON_ATEN_CPU_CONV_DEPTHWISE_PLANE
namespace tenon::native::conv_depthwise {

/// A padded plane and its kernel; rows may be read a vector beyond their end.
struct Plane {
  const float* in;
  int64_t stride;  ///< of the rows of `in`
  const float* kernel;
  int64_t kernel_h, kernel_w;
  float bias;
  float* out;
  int64_t height, width;  ///< of `out`
};

}  // namespace tenon::native::conv_depthwise
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {
namespace {

template <int kRows>
HWY_INLINE void store_rows(const conv_depthwise::Plane& p, int64_t y, int64_t x,
                           const Vector<float> (&sums)[kRows]) {
  const int64_t rest = p.width - x;
  for (int r = 0; r < kRows; ++r) {
    float* out = p.out + (y + r) * p.width + x;
    if (rest >= kLanes<float>) {
      hn::StoreU(sums[r], Tag<float>(), out);
    } else {
      store_first<float>(sums[r], out, rest);
    }
  }
}

/// Up to a vector of pixels from column x on, of kRows rows from y on.
template <int kRows>
HWY_INLINE void any_kernel(const conv_depthwise::Plane& p, int64_t y, int64_t x) {
  const Tag<float> d;
  Vector<float> sums[kRows];
  for (auto& s : sums) s = hn::Set(d, p.bias);
  const float* w = p.kernel;
  for (int64_t i = 0; i < p.kernel_h; ++i) {
    const float* in = p.in + (y + i) * p.stride + x;
    for (int64_t j = 0; j < p.kernel_w; ++j, ++w) {
      const auto weight = hn::Set(d, *w);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r)
        sums[r] = hn::MulAdd(weight, hn::LoadU(d, in + r * p.stride + j), sums[r]);
    }
  }
  store_rows(p, y, x, sums);
}

/// The same for 3 x 3, with the kernel `w` in registers: a vector, most of which lie across two
/// cache lines, is loaded once for all rows that it adds to.
template <int kRows>
HWY_INLINE void kernel_of_3(const conv_depthwise::Plane& p, const Vector<float> (&w)[9], int64_t y,
                            int64_t x) {
  const Tag<float> d;
  Vector<float> sums[kRows];
  for (auto& s : sums) s = hn::Set(d, p.bias);
#pragma GCC unroll 6
  for (int i = 0; i < kRows + 2; ++i) {
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      const auto v = hn::LoadU(d, p.in + (y + i) * p.stride + x + j);
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        if (r <= i && i - r < 3) sums[r] = hn::MulAdd(w[(i - r) * 3 + j], v, sums[r]);
      }
    }
  }
  store_rows(p, y, x, sums);
}

void convolve_plane(const conv_depthwise::Plane& p) {
  if (p.kernel_h == 3 && p.kernel_w == 3) {
    Vector<float> w[9];
#pragma GCC unroll 9
    for (int i = 0; i < 9; ++i) w[i] = hn::Set(Tag<float>(), p.kernel[i]);
    for (int64_t x = 0; x < p.width; x += kLanes<float>) {
      int64_t y = 0;
      for (; y + 4 <= p.height; y += 4) kernel_of_3<4>(p, w, y, x);
      for (; y < p.height; ++y) kernel_of_3<1>(p, w, y, x);
    }
    return;
  }
  for (int64_t x = 0; x < p.width; x += kLanes<float>) {
    int64_t y = 0;
    for (; y + 4 <= p.height; y += 4) any_kernel<4>(p, y, x);
    for (; y < p.height; ++y) any_kernel<1>(p, y, x);
  }
}

}  // namespace
}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {

HWY_EXPORT(convolve_plane);

namespace conv_depthwise {
namespace {

constexpr int64_t kSlack = 64;         // floats that vectors may read past the last row
constexpr int64_t kLargest = 1 << 16;  // floats of a padded plane that stays in the cache

/// All planes: from [planes, in_h, in_w], padded by top and left on both sides, to [planes, out_h,
/// out_w]. `kernels` holds those of `channels` channels.
void run(int64_t planes, int64_t channels, const float* from, int64_t in_h, int64_t in_w,
         int64_t top, int64_t left, const float* kernels, int64_t kernel_h, int64_t kernel_w,
         const float* bias, float* to, int64_t out_h, int64_t out_w) {
  const int64_t stride = in_w + 2 * left, height = in_h + 2 * top;
  const int64_t work = out_h * out_w * kernel_h * kernel_w;
  parallel_for(0, planes, std::max<int64_t>(1, 200000 / work), [&](int64_t begin, int64_t end) {
    std::vector<float> padded(stride * height + kSlack, 0.0f);
    for (int64_t l = begin; l < end; ++l) {
      for (int64_t y = 0; y < in_h; ++y) {
        std::memcpy(padded.data() + (y + top) * stride + left, from + (l * in_h + y) * in_w,
                    static_cast<size_t>(in_w) * sizeof(float));
      }
      const int64_t c = l % channels;
      HWY_DYNAMIC_DISPATCH(convolve_plane)
      ({padded.data(), stride, kernels + c * kernel_h * kernel_w, kernel_h, kernel_w,
        bias ? bias[c] : 0.0f, to + l * out_h * out_w, out_h, out_w});
    }
  });
}

}  // namespace

bool applies(const ConvGeometry& g, const TensorBase& src, const TensorBase& dst) {
  return src.scalar_type() == kFloat && g.spatial == 2 && g.groups > 1 && g.groups == g.channels &&
         g.outputs == g.channels && g.kernel_size() <= 64 && g.stride[1] == 1 && g.stride[2] == 1 &&
         g.dilation[1] == 1 && g.dilation[2] == 1 && g.padding[1] < g.kernel[1] &&
         g.padding[2] < g.kernel[2] &&
         (g.in[1] + 2 * g.kernel[1]) * (g.in[2] + 2 * g.kernel[2]) <= kLargest &&
         src.is_contiguous() && dst.is_contiguous();
}

void forward(const ConvGeometry& g, const TensorBase& src, const TensorBase& weight,
             const TensorBase& bias, const TensorBase& dst) {
  run(g.batch * g.channels, g.channels, src.data_ptr<float>(), g.in[1], g.in[2], g.padding[1],
      g.padding[2], weight.data_ptr<float>(), g.kernel[1], g.kernel[2],
      bias.defined() ? bias.data_ptr<float>() : nullptr, dst.data_ptr<float>(), g.out[1], g.out[2]);
}

/// A convolution of diff_dst, padded by kernel - 1 - padding, with the kernels turned around.
void backward_data(const ConvGeometry& g, const TensorBase& diff_src, const TensorBase& weight,
                   const TensorBase& diff_dst) {
  const int64_t size = g.kernel_size();
  std::vector<float> turned(weight.data_ptr<float>(), weight.data_ptr<float>() + weight.numel());
  for (int64_t c = 0; c < g.channels; ++c)
    std::reverse(turned.begin() + c * size, turned.begin() + (c + 1) * size);
  run(g.batch * g.channels, g.channels, diff_dst.data_ptr<float>(), g.out[1], g.out[2],
      g.kernel[1] - 1 - g.padding[1], g.kernel[2] - 1 - g.padding[2], turned.data(), g.kernel[1],
      g.kernel[2], nullptr, diff_src.data_ptr<float>(), g.in[1], g.in[2]);
}

}  // namespace conv_depthwise
}  // namespace tenon::native
#endif

#include "aten/cpu/conv_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aten/cpu/conv_rows.cpp"
#include "aten/core/simd_targets.h"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "aten/core/parallel.h"
#include "aten/cpu/conv_rows_problem.h"
#include "aten/cpu/gemm_tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::native::HWY_NAMESPACE {

using conv_rows::ImageOut;
using conv_rows::PackedWeight;
using conv_rows::Planes;

using FloatTag = Tag<float>;
inline constexpr int64_t kWidth = kLanes<float>;

/// kRows output channels at two vectors of pixels, which lie `step` apart in the input.
template <int kRows>
HWY_NOINLINE void pixels(const float* HWY_RESTRICT in, int64_t step,
                         const int64_t* HWY_RESTRICT taps, int64_t count,
                         const float* HWY_RESTRICT weight, float* HWY_RESTRICT sums) {
  const FloatTag d;
  Vector<float> acc[kRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) acc[i][0] = acc[i][1] = hn::Zero(d);
  for (int64_t t = 0; t < count; ++t) {
    const auto a = hn::LoadU(d, in + taps[t]), b = hn::LoadU(d, in + taps[t] + step);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const auto w = hn::Set(d, weight[i]);
      acc[i][0] = hn::MulAdd(w, a, acc[i][0]);
      acc[i][1] = hn::MulAdd(w, b, acc[i][1]);
    }
    weight += kRows;
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    hn::Store(acc[i][0], d, sums + 2 * i * kWidth);
    hn::Store(acc[i][1], d, sums + (2 * i + 1) * kWidth);
  }
}

using PixelFunction = void (*)(const float*, int64_t, const int64_t*, int64_t, const float*,
                               float*);

PixelFunction pixel_function(int64_t rows) {
#if HWY_MAX_BYTES >= 64
  static constexpr PixelFunction kTable[] = {pixels<2>, pixels<4>, pixels<6>, pixels<8>};
#else
  static constexpr PixelFunction kTable[] = {pixels<2>, pixels<4>, pixels<6>, pixels<6>};
#endif
  return kTable[rows / 2 - 1];
}

int64_t row_block(int64_t outputs) {
  constexpr int64_t kMost = HWY_MAX_BYTES >= 64 ? 8 : 6;
  const int64_t blocks = (outputs + kMost - 1) / kMost;
  return ((outputs + blocks - 1) / blocks + 1) / 2 * 2;
}

/// out[o] = bias[o] + sum over taps of weight[o][tap] * in[tap + pixel], for one image.
void image_forward(const Planes& in, const PackedWeight& w, const float* bias,
                   const ImageOut& out) {
  const FloatTag d;
  HWY_ALIGN float sums[2 * 8 * HWY_MAX_BYTES / 4];
  const PixelFunction f = pixel_function(w.block);
  const int64_t taps = static_cast<int64_t>(w.taps.size());
  // Narrow images put the second vector into the next row.
  const bool by_rows = out.width <= kWidth;
  const int64_t row_step = by_rows ? 2 : 1, column_step = by_rows ? kWidth : 2 * kWidth;
  for (int64_t b = 0; b < w.blocks; ++b) {
    const int64_t first = b * w.block, channels = std::min(w.block, w.outputs - first);
    for (int64_t y = 0; y < out.height; y += row_step) {
      for (int64_t x = 0; x < out.width; x += column_step) {
        const bool two = by_rows ? y + 1 < out.height : x + kWidth < out.width;
        const int64_t step = !two ? 0 : by_rows ? in.stride : kWidth;
        f(in.row(0, y) + x, step, w.taps.data(), taps, w.values.data() + first * taps, sums);
        for (int64_t i = 0; i < channels; ++i) {
          const auto offset = hn::Set(d, bias ? bias[first + i] : 0.0f);
          for (int64_t v = 0; v < (two ? 2 : 1); ++v) {
            const int64_t row = by_rows ? y + v : y, column = by_rows ? x : x + v * kWidth;
            const auto r = hn::Add(hn::Load(d, sums + (2 * i + v) * kWidth), offset);
            float* to = out.data + ((first + i) * out.height + row) * out.width + column;
            const int64_t rest = out.width - column;
            if (rest >= kWidth) {
              hn::StoreU(r, d, to);
            } else {
              store_first<float>(r, to, rest);
            }
          }
        }
      }
    }
  }
}

/// sums[i][q] += dy[i] * in[q + pixel] over all rows of one image; lanes are kept apart. Rows of dy
/// are a multiple of the vector long.
template <int kRows, int kTaps>
void taps(const float* const* dy, const float* in, int64_t in_stride, int64_t height, int64_t width,
          float* sums) {
  const FloatTag d;
  Vector<float> acc[kRows][kTaps];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int q = 0; q < kTaps; ++q) acc[i][q] = hn::LoadU(d, sums + (i * kTaps + q) * kWidth);
  }
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; x += kWidth) {
      const float* from = in + y * in_stride + x;
      Vector<float> g[kRows];
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) g[i] = hn::LoadU(d, dy[i] + y * width + x);
#pragma GCC unroll 8
      for (int q = 0; q < kTaps; ++q) {
        const auto v = hn::LoadU(d, from + q);
#pragma GCC unroll 8
        for (int i = 0; i < kRows; ++i) acc[i][q] = hn::MulAdd(g[i], v, acc[i][q]);
      }
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int q = 0; q < kTaps; ++q) hn::StoreU(acc[i][q], d, sums + (i * kTaps + q) * kWidth);
  }
}

inline constexpr int64_t kGroup = 4;  // output channels of a tile
inline constexpr int64_t kRun = 5;    // horizontal taps of a tile

int64_t lanes() { return kWidth; }

/// Floats that image_weight adds to: a vector per weight, output channels rounded up, and one per
/// bias.
int64_t weight_sums(const ConvGeometry& g) {
  const int64_t groups = (g.outputs + kGroup - 1) / kGroup;
  return (groups * kGroup * g.channels * g.kernel_size() + g.outputs) * kWidth;
}

void image_weight(const ConvGeometry& g, const Planes& in, const float* dy, int64_t dy_width,
                  float* sums) {
  const FloatTag d;
  const int64_t plane = g.out[1] * dy_width;
  for (int64_t o = 0; o < g.outputs; o += kGroup) {
    const float* rows[kGroup];
    for (int64_t i = 0; i < kGroup; ++i) rows[i] = dy + std::min(o + i, g.outputs - 1) * plane;
    for (int64_t c = 0; c < g.channels; ++c) {
      for (int64_t kh = 0; kh < g.kernel[1]; ++kh) {
        for (int64_t kw = 0; kw < g.kernel[2]; kw += kRun) {
          const int64_t run = std::min(kRun, g.kernel[2] - kw);
          const float* from = in.row(c, kh) + kw;
          switch (run) {
          case 1: taps<kGroup, 1>(rows, from, in.stride, g.out[1], dy_width, sums); break;
          case 2: taps<kGroup, 2>(rows, from, in.stride, g.out[1], dy_width, sums); break;
          case 3: taps<kGroup, 3>(rows, from, in.stride, g.out[1], dy_width, sums); break;
          case 4: taps<kGroup, 4>(rows, from, in.stride, g.out[1], dy_width, sums); break;
          default: taps<kGroup, kRun>(rows, from, in.stride, g.out[1], dy_width, sums);
          }
          sums += kGroup * run * kWidth;
        }
      }
    }
  }
  for (int64_t o = 0; o < g.outputs; ++o, sums += kWidth) {
    auto sum = hn::LoadU(d, sums);
    for (int64_t i = 0; i < plane; i += kWidth)
      sum = hn::Add(sum, hn::LoadU(d, dy + o * plane + i));
    hn::StoreU(sum, d, sums);
  }
}

}  // namespace tenon::native::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tenon::native {

HWY_EXPORT(row_block);
HWY_EXPORT(image_forward);
HWY_EXPORT(image_weight);
HWY_EXPORT(weight_sums);
HWY_EXPORT(lanes);

namespace conv_rows {
namespace {

// In image_weight's order of tiles.
constexpr int64_t kGroup = 4;
constexpr int64_t kRun = 5;
constexpr int64_t kSlack = 64;  // floats that vectors may read past a row or a plane

class Image {
 public:
  Image(int64_t planes, int64_t height, int64_t width)
      : memory_(new float[planes * height * width + kSlack]()), planes_{memory_.get(), height,
                                                                        width} {}
  const Planes& planes() const { return planes_; }
  /// Copies rows [height, width] of each plane to where `top` and `left` say; the rest stays zero.
  void load(const float* from, int64_t count, int64_t height, int64_t width, int64_t top,
            int64_t left) {
    for (int64_t p = 0; p < count; ++p) {
      for (int64_t y = 0; y < height; ++y, from += width) {
        std::memcpy(planes_.row(p, y + top) + left, from, width * sizeof(float));
      }
    }
  }

 private:
  std::unique_ptr<float[]> memory_;
  Planes planes_;
};

/// Weights in the order of the tiles: `at(o, c, kh, kw)` is the weight of output channel o.
template <class At>
PackedWeight pack(int64_t outputs, int64_t channels, int64_t kh, int64_t kw, int64_t plane,
                  int64_t stride, At&& at) {
  PackedWeight w;
  w.outputs = outputs;
  w.block = HWY_DYNAMIC_DISPATCH(row_block)(outputs);
  w.blocks = (outputs + w.block - 1) / w.block;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t i = 0; i < kh; ++i) {
      for (int64_t j = 0; j < kw; ++j) w.taps.push_back(c * plane + i * stride + j);
    }
  }
  w.values.assign(w.blocks * w.block * w.taps.size(), 0.0f);
  for (int64_t o = 0; o < outputs; ++o) {
    float* to = w.values.data() + o / w.block * w.block * w.taps.size() + o % w.block;
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t i = 0; i < kh; ++i) {
        for (int64_t j = 0; j < kw; ++j, to += w.block) *to = at(o, c, i, j);
      }
    }
  }
  return w;
}

/// All images: src [batch, channels, in] padded by top and left, to dst [batch, outputs, out].
void run(const PackedWeight& w, int64_t batch, const float* src, int64_t channels, int64_t in_h,
         int64_t in_w, int64_t top, int64_t left, const float* bias, float* dst, int64_t out_h,
         int64_t out_w) {
  const int64_t work = w.outputs * static_cast<int64_t>(w.taps.size()) * out_h * out_w;
  parallel_for(0, batch, std::max<int64_t>(1, 500000 / work), [&](int64_t begin, int64_t end) {
    Image image(channels, in_h + 2 * top, in_w + 2 * left);
    for (int64_t n = begin; n < end; ++n) {
      image.load(src + n * channels * in_h * in_w, channels, in_h, in_w, top, left);
      HWY_DYNAMIC_DISPATCH(image_forward)
      (image.planes(), w, bias, {dst + n * w.outputs * out_h * out_w, out_h, out_w});
    }
  });
}

}  // namespace

bool applies(const ConvGeometry& g, const TensorBase& src, const TensorBase& dst) {
  constexpr int64_t kFew = 16;
  return src.scalar_type() == kFloat && g.spatial == 2 && g.groups == 1 && g.channels <= kFew &&
         g.outputs <= 2 * kFew && g.kernel_size() <= 64 && g.stride[1] == 1 && g.stride[2] == 1 &&
         g.dilation[1] == 1 && g.dilation[2] == 1 && g.padding[1] < g.kernel[1] &&
         g.padding[2] < g.kernel[2] && src.is_contiguous() && dst.is_contiguous();
}

void forward(const ConvGeometry& g, const TensorBase& src, const TensorBase& weight,
             const TensorBase& bias, const TensorBase& dst) {
  const int64_t kh = g.kernel[1], kw = g.kernel[2];
  const int64_t height = g.in[1] + 2 * g.padding[1], stride = g.in[2] + 2 * g.padding[2];
  const float* from = weight.data_ptr<float>();
  const PackedWeight w = pack(g.outputs, g.channels, kh, kw, height * stride, stride,
                              [&](int64_t o, int64_t c, int64_t i, int64_t j) {
                                return from[((o * g.channels + c) * kh + i) * kw + j];
                              });
  run(w, g.batch, src.data_ptr<float>(), g.channels, g.in[1], g.in[2], g.padding[1], g.padding[2],
      bias.defined() ? bias.data_ptr<float>() : nullptr, dst.data_ptr<float>(), g.out[1], g.out[2]);
}

/// A convolution of diff_dst, padded by kernel - 1 - padding, with the weight turned around.
void backward_data(const ConvGeometry& g, const TensorBase& diff_src, const TensorBase& weight,
                   const TensorBase& diff_dst) {
  const int64_t kh = g.kernel[1], kw = g.kernel[2];
  const int64_t top = kh - 1 - g.padding[1], left = kw - 1 - g.padding[2];
  const int64_t height = g.out[1] + 2 * top, stride = g.out[2] + 2 * left;
  const float* from = weight.data_ptr<float>();
  const PackedWeight w =
      pack(g.channels, g.outputs, kh, kw, height * stride, stride,
           [&](int64_t c, int64_t o, int64_t i, int64_t j) {
             return from[((o * g.channels + c) * kh + kh - 1 - i) * kw + kw - 1 - j];
           });
  run(w, g.batch, diff_dst.data_ptr<float>(), g.outputs, g.out[1], g.out[2], top, left, nullptr,
      diff_src.data_ptr<float>(), g.in[1], g.in[2]);
}

void backward_weight(const ConvGeometry& g, const TensorBase& src, const TensorBase& diff_weight,
                     const TensorBase& diff_bias, const TensorBase& diff_dst) {
  const int64_t width = HWY_DYNAMIC_DISPATCH(lanes)(), count = HWY_DYNAMIC_DISPATCH(weight_sums)(g);
  const int64_t dy_width = (g.out[2] + width - 1) / width * width;
  // Beyond its end a row of the input is zero, so that the zeros of dy never meet another row's
  // NaN.
  const int64_t stride = std::max(g.in[2] + 2 * g.padding[2], dy_width + g.kernel[2] - 1);
  std::mutex mutex;
  std::map<int64_t, std::vector<float>>
      parts;  // added up in the order of the images, whoever is first
  const int64_t work = g.outputs * g.channels * g.kernel_size() * g.out_size();
  parallel_for(0, g.batch, std::max<int64_t>(1, 500000 / work), [&](int64_t begin, int64_t end) {
    Image in(g.channels, g.in[1] + 2 * g.padding[1], stride), dy(g.outputs, g.out[1], dy_width);
    std::vector<float> sums(count, 0.0f);
    for (int64_t n = begin; n < end; ++n) {
      in.load(src.data_ptr<float>() + n * g.channels * g.in_size(), g.channels, g.in[1], g.in[2],
              g.padding[1], g.padding[2]);
      dy.load(diff_dst.data_ptr<float>() + n * g.outputs * g.out_size(), g.outputs, g.out[1],
              g.out[2], 0, 0);
      HWY_DYNAMIC_DISPATCH(image_weight)(g, in.planes(), dy.planes().data, dy_width, sums.data());
    }
    const std::lock_guard lock(mutex);
    parts.emplace(begin, std::move(sums));
  });

  std::vector<double> totals(count / width, 0.0);
  for (const auto& [begin, sums] : parts) {
    for (int64_t i = 0; i < count; ++i) totals[i / width] += sums[i];
  }
  const double* total = totals.data();
  float* to = diff_weight.data_ptr<float>();
  for (int64_t o = 0; o < g.outputs; o += kGroup) {
    for (int64_t line = 0; line < g.channels * g.kernel[1]; ++line) {
      for (int64_t kw = 0; kw < g.kernel[2]; kw += kRun) {
        const int64_t run = std::min(kRun, g.kernel[2] - kw);
        for (int64_t i = 0; i < kGroup; ++i) {
          for (int64_t q = 0; q < run; ++q, ++total) {
            if (o + i >= g.outputs) continue;
            to[((o + i) * g.channels * g.kernel[1] + line) * g.kernel[2] + kw + q] =
                static_cast<float>(*total);
          }
        }
      }
    }
  }
  if (!diff_bias.defined()) return;
  for (int64_t o = 0; o < g.outputs; ++o)
    diff_bias.data_ptr<float>()[o] = static_cast<float>(total[o]);
}

}  // namespace conv_rows
}  // namespace tenon::native
#endif

#include <algorithm>
#include <cstring>
#include <memory>

#include "aten/core/parallel.h"
#include "aten/cpu/convolution.h"
#include "aten/cpu/gemm.h"

namespace tenon::native {
namespace {

/// Calls f(row of columns, spatial index of src, output index) over all taps that fall inside src:
/// `row` runs over [channels of the group, kernel], in C order.
template <class F>
void for_each_tap(const ConvGeometry& g, F&& f) {
  const int64_t channels = g.channels / g.groups;
  int64_t row = 0;
  for (int64_t c = 0; c < channels; ++c) {
    for (int64_t kd = 0; kd < g.kernel[0]; ++kd) {
      for (int64_t kh = 0; kh < g.kernel[1]; ++kh) {
        for (int64_t kw = 0; kw < g.kernel[2]; ++kw, ++row) {
          const int64_t shift = kw * g.dilation[2] - g.padding[2];
          for (int64_t od = 0; od < g.out[0]; ++od) {
            const int64_t d = od * g.stride[0] - g.padding[0] + kd * g.dilation[0];
            for (int64_t oh = 0; oh < g.out[1]; ++oh) {
              const int64_t h = oh * g.stride[1] - g.padding[1] + kh * g.dilation[1];
              const bool inside = d >= 0 && d < g.in[0] && h >= 0 && h < g.in[1];
              const int64_t line = ((c * g.in[0] + d) * g.in[1] + h) * g.in[2];
              f(row, inside ? line : int64_t{-1}, shift, (od * g.out[1] + oh) * g.out[2]);
            }
          }
        }
      }
    }
  }
}

/// Output positions [first, last) of a line whose source position lies inside it.
void inside_range(const ConvGeometry& g, int64_t shift, int64_t& first, int64_t& last) {
  const int64_t s = g.stride[2];
  first = std::clamp<int64_t>(shift >= 0 ? 0 : (-shift + s - 1) / s, 0, g.out[2]);
  last = g.in[2] - 1 - shift < 0
             ? first
             : std::clamp<int64_t>((g.in[2] - 1 - shift) / s + 1, first, g.out[2]);
}

/// columns [channels * kernel, out] of one group of one sample.
template <class T>
void unfold(const ConvGeometry& g, const T* src, T* columns) {
  const int64_t width = g.out_size(), s = g.stride[2];
  for_each_tap(g, [&](int64_t row, int64_t line, int64_t shift, int64_t at) {
    T* to = columns + row * width + at;
    if (line < 0) {
      std::memset(to, 0, g.out[2] * sizeof(T));
      return;
    }
    int64_t first, last;
    inside_range(g, shift, first, last);
    std::fill(to, to + first, T(0));
    const T* from = src + line + shift;
    if (s == 1) {
      std::copy(from + first, from + last, to + first);
    } else {
      for (int64_t o = first; o < last; ++o) to[o] = from[o * s];
    }
    std::fill(to + last, to + g.out[2], T(0));
  });
}

/// Adds columns back to where unfold took them from.
template <class T>
void fold(const ConvGeometry& g, const T* columns, T* src) {
  const int64_t width = g.out_size(), s = g.stride[2];
  for_each_tap(g, [&](int64_t row, int64_t line, int64_t shift, int64_t at) {
    if (line < 0) return;
    int64_t first, last;
    inside_range(g, shift, first, last);
    const T* from = columns + row * width + at;
    T* to = src + line + shift;
    for (int64_t o = first; o < last; ++o) to[o * s] += from[o];
  });
}

/// Whether the patches are the input itself: the convolution is a matrix product.
bool is_product(const ConvGeometry& g) {
  constexpr ConvGeometry::Triple kOnes{1, 1, 1}, kZeros{0, 0, 0};
  return g.kernel == kOnes && g.stride == kOnes && g.padding == kZeros && g.in == g.out;
}

struct Shape {
  int64_t rows, taps, width, src_group, dst_group, weight_group;

  explicit Shape(const ConvGeometry& g)
      : rows(g.outputs / g.groups), taps(g.channels / g.groups * g.kernel_size()),
        width(g.out_size()), src_group(g.channels / g.groups * g.in_size()),
        dst_group(rows * width), weight_group(rows * taps) {}
};

/// The columns of one group of a sample after another.
template <class T>
class Patches {
 public:
  explicit Patches(const ConvGeometry& g)
      : geometry_(g), columns_(is_product(g) ? nullptr : new T[Shape(g).taps * Shape(g).width]) {}
  /// Valid until the next call.
  const T* of(const T* src) const {
    if (!columns_) return src;
    unfold(geometry_, src, columns_.get());
    return columns_.get();
  }

 private:
  const ConvGeometry& geometry_;
  std::unique_ptr<T[]> columns_;
};

template <class T>
void forward_typed(const ConvGeometry& g, const T* src, const T* weight, const T* bias, T* dst) {
  const Shape s(g);
  parallel_for(0, g.batch * g.groups, 1, [&](int64_t begin, int64_t end) {
    const Patches<T> patches(g);
    for (int64_t l = begin; l < end; ++l) {
      const int64_t group = l % g.groups;
      T* out = dst + l * s.dst_group;
      const T* columns = patches.of(src + l * s.src_group);
      for (int64_t r = 0; bias && r < s.rows; ++r)
        std::fill_n(out + r * s.width, s.width, bias[group * s.rows + r]);
      gemm<T>(s.rows, s.width, s.taps, T(1), {weight + group * s.weight_group, s.taps, 1},
              {columns, s.width, 1}, T(bias ? 1 : 0), {out, s.width, 1});
    }
  });
}

template <class T>
void backward_data_typed(const ConvGeometry& g, T* diff_src, const T* weight, const T* diff_dst) {
  const Shape s(g);
  parallel_for(0, g.batch * g.groups, 1, [&](int64_t begin, int64_t end) {
    const std::unique_ptr<T[]> buffer(is_product(g) ? nullptr : new T[s.taps * s.width]);
    for (int64_t l = begin; l < end; ++l) {
      T* to = diff_src + l * s.src_group;
      T* columns = buffer ? buffer.get() : to;
      gemm<T>(s.taps, s.width, s.rows, T(1), {weight + l % g.groups * s.weight_group, 1, s.taps},
              {diff_dst + l * s.dst_group, s.width, 1}, T(0), {columns, s.width, 1});
      if (columns == to) continue;
      std::fill_n(to, s.src_group, T(0));
      fold(g, columns, to);
    }
  });
}

template <class T>
void backward_weight_typed(const ConvGeometry& g, const T* src, T* diff_weight, const T* diff_dst) {
  const Shape s(g);
  std::fill_n(diff_weight, g.groups * s.weight_group, T(0));
  const Patches<T> patches(g);
  for (int64_t l = 0; l < g.batch * g.groups; ++l) {
    const T* columns = patches.of(src + l * s.src_group);
    gemm<T>(s.rows, s.taps, s.width, T(1), {diff_dst + l * s.dst_group, s.width, 1},
            {columns, 1, s.width}, T(1), {diff_weight + l % g.groups * s.weight_group, s.taps, 1});
  }
}

}  // namespace

bool im2col::applies(const ConvGeometry& g, const TensorBase& src, const TensorBase& dst) {
  // Images smaller than that leave much of the product's tiles empty.
  constexpr int64_t kPixels = 128;
  return is_product(g) && g.groups == 1 && g.out_size() >= kPixels && src.scalar_type() == kFloat &&
         src.is_contiguous() && dst.is_contiguous();
}

void im2col::forward(const ConvGeometry& g, const TensorBase& src, const TensorBase& weight,
                     const TensorBase& bias, const TensorBase& dst) {
  TENON_DISPATCH_FLOATING(src.scalar_type(), "convolution", {
    forward_typed<scalar_t>(g, src.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(),
                            bias.defined() ? bias.data_ptr<scalar_t>() : nullptr,
                            dst.data_ptr<scalar_t>());
  });
}

void im2col::backward_data(const ConvGeometry& g, const TensorBase& diff_src,
                           const TensorBase& weight, const TensorBase& diff_dst) {
  TENON_DISPATCH_FLOATING(diff_dst.scalar_type(), "convolution_backward", {
    backward_data_typed<scalar_t>(g, diff_src.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(),
                                  diff_dst.data_ptr<scalar_t>());
  });
}

void im2col::backward_weight(const ConvGeometry& g, const TensorBase& src,
                             const TensorBase& diff_weight, const TensorBase& diff_bias,
                             const TensorBase& diff_dst) {
  TENON_DISPATCH_FLOATING(src.scalar_type(), "convolution_backward", {
    backward_weight_typed<scalar_t>(g, src.data_ptr<scalar_t>(), diff_weight.data_ptr<scalar_t>(),
                                    diff_dst.data_ptr<scalar_t>());
  });
  if (diff_bias.defined()) sum_per_channel(diff_dst, diff_bias);
}

void sum_per_channel(const TensorBase& t, const TensorBase& out) {
  const int64_t batch = t.size(0), channels = t.size(1);
  const int64_t inner = batch * channels == 0 ? 0 : t.numel() / (batch * channels);
  TENON_DISPATCH_FLOATING(t.scalar_type(), "convolution_backward", {
    const scalar_t* from = t.data_ptr<scalar_t>();
    scalar_t* to = out.data_ptr<scalar_t>();
    parallel_for(0, channels, std::max<int64_t>(1, 32768 / std::max<int64_t>(1, batch * inner)),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t c = begin; c < end; ++c) {
                     double sum = 0;
                     for (int64_t b = 0; b < batch; ++b) {
                       const scalar_t* line = from + (b * channels + c) * inner;
                       double part[8] = {};
                       int64_t i = 0;
                       for (; i + 8 <= inner; i += 8) {
                         for (int u = 0; u < 8; ++u) part[u] += line[i + u];
                       }
                       for (; i < inner; ++i) part[0] += line[i];
                       for (const double p : part) sum += p;
                     }
                     to[c] = static_cast<scalar_t>(sum);
                   }
                 });
  });
}

}  // namespace tenon::native

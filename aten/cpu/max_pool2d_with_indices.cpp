#include "tenon/native/max_pool2d_with_indices.h"

#include <algorithm>
#include <limits>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/max_pool_plane.h"
#include "aten/cpu/pool_pixel.h"

namespace tenon {
namespace {

using meta::Pool2d;

/// The first position not below 0 that a window starting at `start` covers.
int64_t first_inside(int64_t start, int64_t dilation) {
  return start >= 0 ? start : start + (-start + dilation - 1) / dilation * dilation;
}

native::MaxWindow max_window(const Pool2d& p, int64_t row, int64_t column) {
  const int64_t top = row * p.stride_h - p.pad_h, left = column * p.stride_w - p.pad_w;
  return {first_inside(top, p.dilation_h),
          std::min(top + (p.kernel_h - 1) * p.dilation_h + 1, p.in_h),
          p.dilation_h,
          first_inside(left, p.dilation_w),
          std::min(left + (p.kernel_w - 1) * p.dilation_w + 1, p.in_w),
          p.dilation_w};
}

template <class T>
void one_window(const Pool2d& p, const T* in, int64_t row, int64_t column, T* out, int64_t* index) {
  const native::MaxWindow a = max_window(p, row, column);
  T max = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::lowest();
  int64_t best = a.h0 * p.in_w + a.w0;
  for (int64_t h = a.h0; h < a.h1; h += a.step_h) {
    for (int64_t w = a.w0; w < a.w1; w += a.step_w) {
      const T v = in[h * p.in_w + w];
      if (v > max || v != v) {
        max = v;
        best = h * p.in_w + w;
      }
    }
  }
  out[row * p.out_w + column] = max;
  index[row * p.out_w + column] = best;
}

template <class T>
void plane(const Pool2d& p, const T* in, T* out, int64_t* indices) {
  // Output columns whose windows lie inside the input's width.
  const int64_t reach = (p.kernel_w - 1) * p.dilation_w;
  const int64_t first = std::min((p.pad_w + p.stride_w - 1) / p.stride_w, p.out_w);
  const int64_t room = p.in_w - 1 - reach + p.pad_w;
  const int64_t last = room < 0 ? first : std::clamp(room / p.stride_w + 1, first, p.out_w);
  int64_t done = first;
  if constexpr (std::is_same_v<T, float>)
    done = native::max_pool_columns(p, in, first, last, out, indices);
  for (int64_t row = 0; row < p.out_h; ++row) {
    for (int64_t column = 0; column < first; ++column) one_window(p, in, row, column, out, indices);
    for (int64_t column = done; column < p.out_w; ++column)
      one_window(p, in, row, column, out, indices);
  }
}

/// Floats, channels last.
void maxima_last(const TensorBase& self, const Pool2d& p, const TensorBase& out,
                 const TensorBase& indices) {
  const int64_t channels = self.size(1), rows = self.size(0) * p.out_h;
  const int64_t work = p.out_w * channels * p.kernel_h * p.kernel_w;
  parallel_for(0, rows, std::max<int64_t>(1, 65536 / work), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const float* image = self.data_ptr<float>() + i / p.out_h * p.in_size() * channels;
      float* to = out.data_ptr<float>() + i * p.out_w * channels;
      int64_t* at = indices.data_ptr<int64_t>() + i * p.out_w * channels;
      for (int64_t column = 0; column < p.out_w; ++column, to += channels, at += channels) {
        native::max_pixel(image, p.in_w, channels, max_window(p, i % p.out_h, column), to, at);
      }
    }
  });
}

}  // namespace

/// NaN wins over every number, as in PyTorch.
void native::max_pool2d_with_indices_cpu(const Tensor& self, IntArrayRef kernel_size,
                                         IntArrayRef stride, IntArrayRef padding,
                                         IntArrayRef dilation, bool ceil_mode, const Tensor& out,
                                         const Tensor& indices) {
  const Pool2d p =
      meta::pool2d("max_pool2d", self, kernel_size, stride, padding, dilation, ceil_mode);
  const ScalarType type = to_opmath_type(self.scalar_type());
  if (type == kFloat && self.scalar_type() == type && is_channels_last(self) &&
      is_channels_last(out) && is_channels_last(indices) &&
      p.in_size() <= std::numeric_limits<int32_t>::max()) {
    return maxima_last(self, p, out, indices);
  }
  const TensorBase x = contiguous(self, type);
  const ContiguousOutput y(out, type), positions(indices, kLong);
  TENON_DISPATCH_SWITCH(
      type, "max_pool2d",
      TENON_FORALL_INTEGRAL(TENON_DISPATCH_CASE) TENON_FORALL_FLOATING(TENON_DISPATCH_CASE), {
        const scalar_t* in = static_cast<const scalar_t*>(x.data_ptr());
        scalar_t* to = y.data<scalar_t>();
        int64_t* at = positions.data<int64_t>();
        const int64_t work = p.out_size() * p.kernel_h * p.kernel_w;
        parallel_for(
            0, p.planes, std::max<int64_t>(1, 32768 / work), [&](int64_t begin, int64_t end) {
              for (int64_t l = begin; l < end; ++l) {
                plane(p, in + l * p.in_size(), to + l * p.out_size(), at + l * p.out_size());
              }
            });
      });
  y.copy_back();
  positions.copy_back();
}

}  // namespace tenon

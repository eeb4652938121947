#include "tenon/native/max_pool2d_with_indices.h"

#include <algorithm>
#include <limits>

#include "aten/core/parallel.h"
#include "aten/cpu/max_pool_plane.h"
#include "aten/cpu/plain.h"

namespace tenon {
namespace {

using meta::Pool2d;

/// The first position not below 0 that a window starting at `start` covers.
int64_t first_inside(int64_t start, int64_t dilation) {
  return start >= 0 ? start : start + (-start + dilation - 1) / dilation * dilation;
}

template <class T>
void one_window(const Pool2d& p, const T* in, int64_t row, int64_t column, T* out, int64_t* index) {
  const int64_t top = row * p.stride_h - p.pad_h, left = column * p.stride_w - p.pad_w;
  const int64_t bottom = std::min(top + (p.kernel_h - 1) * p.dilation_h + 1, p.in_h);
  const int64_t right = std::min(left + (p.kernel_w - 1) * p.dilation_w + 1, p.in_w);
  const int64_t h0 = first_inside(top, p.dilation_h), w0 = first_inside(left, p.dilation_w);
  T max = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                               : std::numeric_limits<T>::lowest();
  int64_t best = h0 * p.in_w + w0;
  for (int64_t h = h0; h < bottom; h += p.dilation_h) {
    for (int64_t w = w0; w < right; w += p.dilation_w) {
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

}  // namespace

/// NaN wins over every number, as in PyTorch.
void native::max_pool2d_with_indices_cpu(const Tensor& self, IntArrayRef kernel_size,
                                         IntArrayRef stride, IntArrayRef padding,
                                         IntArrayRef dilation, bool ceil_mode, const Tensor& out,
                                         const Tensor& indices) {
  const Pool2d p =
      meta::pool2d("max_pool2d", self, kernel_size, stride, padding, dilation, ceil_mode);
  const ScalarType type = opmath_type(self.scalar_type());
  const TensorBase x = plain_input(self, type);
  const PlainOutput y(out, type), positions(indices, kLong);
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
  y.deliver();
  positions.deliver();
}

}  // namespace tenon

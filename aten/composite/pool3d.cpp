#include <algorithm>
#include <array>

#include "aten/composite/chosen_elements.h"
#include "aten/composite/to_opmath_type.h"
#include "aten/generated_support/tensor_factories.h"
#include "aten/meta/checks.h"
#include "tenon/native/avg_pool3d.h"
#include "tenon/native/max_pool3d_with_indices.h"
#include "tenon/ops/avg_pool2d.h"
#include "tenon/ops/div.h"
#include "tenon/ops/floor_divide.h"
#include "tenon/ops/gather.h"
#include "tenon/ops/max_pool2d_with_indices.h"
#include "tenon/ops/mul.h"

/// Pooling of [C, D, H, W] or [N, C, D, H, W]: over H and W, then over D. Of equal elements of a
/// window the first is chosen, which that order keeps; sums are rounded once.
namespace tenon {
namespace {

using Three = std::array<int64_t, 3>;

struct Window {
  Three kernel, stride, padding, dilation;
};

Three three(const char* op, const char* name, IntArrayRef values) {
  TENON_CHECK(values.size() == 1 || values.size() == 3, "[", op, "] ", name,
              " must either be a single int, or a tuple of three ints, got ", values);
  return {values[0], values[values.size() / 2], values[values.size() - 1]};
}

Window window_of(const char* op, IntArrayRef kernel_size, IntArrayRef stride, IntArrayRef padding,
                 IntArrayRef dilation) {
  const Three kernel = three(op, "kernel_size", kernel_size);
  const Window w{kernel, stride.empty() ? kernel : three(op, "stride", stride),
                 three(op, "padding", padding), three(op, "dilation", dilation)};
  for (size_t i = 0; i < 3; ++i) {
    TENON_CHECK(w.stride[i] != 0, "[", op, "] stride should not be zero, but got ", stride);
    TENON_CHECK(w.kernel[i] > 0 && w.stride[i] > 0 && w.dilation[i] > 0, "[", op,
                "] kernel size, stride and dilation should be greater than zero, but got ",
                kernel_size, ", ", stride, " and ", dilation);
    TENON_CHECK(w.padding[i] >= 0, "[", op, "] pad must be non-negative, but got pad: ", padding);
    TENON_CHECK(w.padding[i] <= meta::multiply_add(op, w.kernel[i] - 1, w.dilation[i], 1) / 2, "[",
                op, "] pad should be at most half of effective kernel size, but got pad=", padding,
                ", kernel_size=", kernel_size, " and dilation=", dilation);
  }
  return w;
}

void check_input(const char* op, const Tensor& self) {
  TENON_CHECK(
      self.dim() == 4 || self.dim() == 5, "[", op,
      "] non-empty 4D or 5D (batch mode) tensor expected for input, but got: ", self.sizes());
  for (int64_t d = self.dim() - 4; d < self.dim(); ++d) {
    TENON_CHECK(self.size(d) > 0, "[", op,
                "] Expected input to have non-zero size for non-batch dimensions, but input has "
                "sizes ",
                self.sizes(), " with dimension ", d, " being empty");
  }
}

/// Images [planes, D, H, W], and the same as columns along D, [planes, 1, D, H * W].
struct Volume {
  int64_t planes, d, h, w;

  explicit Volume(const Tensor& t)
      : planes((t.dim() == 5 ? t.size(0) : 1) * t.size(-4)), d(t.size(-3)), h(t.size(-2)),
        w(t.size(-1)) {}
  DimVector slices() const { return {planes, d, h, w}; }
  DimVector columns() const { return {planes, 1, d, h * w}; }
};

DimVector pooled_sizes(const Tensor& self, int64_t d, int64_t h, int64_t w) {
  DimVector sizes(self.sizes());
  std::copy_n(std::array{d, h, w}.begin(), 3, sizes.end() - 3);
  return sizes;
}

/// The elements of each window along one dimension; with `padded` those of the padding as well.
Tensor counts_of(const Tensor& like, int64_t in, int64_t out, int64_t kernel, int64_t stride,
                 int64_t padding, bool padded) {
  std::vector<int64_t> counts(static_cast<size_t>(out));
  for (int64_t i = 0; i < out; ++i) {
    const int64_t start = i * stride - padding, end = std::min(start + kernel, in + padding);
    counts[static_cast<size_t>(i)] =
        padded ? end - start : std::min(end, in) - std::max<int64_t>(start, 0);
  }
  return tensor(counts).to(like.device(), like.scalar_type());
}

}  // namespace

/// The largest element of each window, and its place in [D, H, W] as one number.
std::tuple<Tensor, Tensor> native::max_pool3d_with_indices(const Tensor& self,
                                                           IntArrayRef kernel_size,
                                                           IntArrayRef stride, IntArrayRef padding,
                                                           IntArrayRef dilation, bool ceil_mode) {
  constexpr const char* kOp = "max_pool3d_with_indices";
  const Window p = window_of(kOp, kernel_size, stride, padding, dilation);
  check_input(kOp, self);
  const Volume in(self);
  const auto [rows, at] = max_pool2d_with_indices(
      self.detach().reshape(in.slices()), {p.kernel[1], p.kernel[2]}, {p.stride[1], p.stride[2]},
      {p.padding[1], p.padding[2]}, {p.dilation[1], p.dilation[2]}, ceil_mode);
  const int64_t h = rows.size(2), w = rows.size(3), plane = h * w;
  const auto [values, where] =
      max_pool2d_with_indices(rows.reshape({in.planes, 1, in.d, plane}), {p.kernel[0], 1},
                              {p.stride[0], 1}, {p.padding[0], 0}, {p.dilation[0], 1}, ceil_mode);
  const int64_t d = values.size(2);
  const Tensor chosen = where.reshape({in.planes, d * plane});
  const Tensor indices = chosen.floor_divide(plane) * (in.h * in.w) +
                         at.reshape({in.planes, in.d * plane}).gather(1, chosen);
  return chosen_elements(self, indices.reshape(pooled_sizes(self, d, h, w)), 3,
                         self.dim() == 5 ? self.suggest_memory_format() : MemoryFormat::Contiguous);
}

/// The mean of each window, or its sum by `divisor_override`; at the border with the padding's
/// zeros, or without by `count_include_pad`.
Tensor native::avg_pool3d(const Tensor& self, IntArrayRef kernel_size, IntArrayRef stride,
                          IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                          std::optional<int64_t> divisor_override) {
  constexpr const char* kOp = "avg_pool3d";
  const Window p = window_of(kOp, kernel_size, stride, padding, 1);
  TENON_CHECK(!divisor_override || *divisor_override != 0, "[", kOp, "] divisor must be not zero");
  check_input(kOp, self);
  const Volume in(self);
  TENON_CHECK(in.d >= p.kernel[0] && in.h >= p.kernel[1] && in.w >= p.kernel[2], "[", kOp,
              "] input image (T: ", in.d, " H: ", in.h, " W: ", in.w,
              ") smaller than kernel size (kT: ", p.kernel[0], " kH: ", p.kernel[1],
              " kW: ", p.kernel[2], ")");
  const Tensor rows =
      avg_pool2d(to_opmath_type(self).reshape(in.slices()), {p.kernel[1], p.kernel[2]},
                 {p.stride[1], p.stride[2]}, {p.padding[1], p.padding[2]}, ceil_mode, true, 1);
  const int64_t h = rows.size(2), w = rows.size(3);
  const Tensor sums = avg_pool2d(rows.reshape({in.planes, 1, in.d, h * w}), {p.kernel[0], 1},
                                 {p.stride[0], 1}, {p.padding[0], 0}, ceil_mode, true, 1);
  const int64_t d = sums.size(2);
  const auto counts = [&](size_t i, int64_t length, int64_t windows) {
    return counts_of(sums, length, windows, p.kernel[i], p.stride[i], p.padding[i],
                     count_include_pad);
  };
  const Tensor shaped = sums.reshape(pooled_sizes(self, d, h, w));
  const auto divided = [&](const auto& by) {
    return is_integral(shaped.scalar_type(), true) ? shaped.div(by, "trunc") : shaped / by;
  };
  const Tensor out = divisor_override
                         ? divided(Scalar(*divisor_override))
                         : divided(counts(0, in.d, d).view({d, 1, 1}) *
                                   counts(1, in.h, h).view({h, 1}) * counts(2, in.w, w));
  return out.to(self.scalar_type());
}

}  // namespace tenon

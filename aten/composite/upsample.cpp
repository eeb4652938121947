#include <algorithm>

#include "aten/composite/in_format.h"
#include "aten/composite/resample.h"
#include "aten/composite/to_opmath_type.h"
#include "tenon/native/_upsample_bicubic2d_aa.h"
#include "tenon/native/_upsample_bilinear2d_aa.h"
#include "tenon/native/_upsample_nearest_exact1d.h"
#include "tenon/native/_upsample_nearest_exact2d.h"
#include "tenon/native/_upsample_nearest_exact3d.h"
#include "tenon/native/adaptive_avg_pool3d.h"
#include "tenon/native/upsample_bicubic2d.h"
#include "tenon/native/upsample_bilinear2d.h"
#include "tenon/native/upsample_linear1d.h"
#include "tenon/native/upsample_nearest1d.h"
#include "tenon/native/upsample_nearest2d.h"
#include "tenon/native/upsample_nearest3d.h"
#include "tenon/native/upsample_trilinear3d.h"
#include "tenon/ops/mean.h"

/// Interpolation of [N, C, L], [N, C, H, W] and [N, C, D, H, W] in the dimensions after the second:
/// linear maps along one dimension after the other. Half types are rounded once.
namespace tenon {
namespace {

using Scales = std::initializer_list<std::optional<double>>;

void check_sizes(const char* op, const Tensor& self, IntArrayRef output_size, int64_t dims) {
  TENON_CHECK(static_cast<int64_t>(output_size.size()) == dims, "[", op,
              "] It is expected output_size equals to ", dims, ", but got size ",
              output_size.size());
  TENON_CHECK(self.dim() == dims + 2, "[", op, "] It is expected input_size equals to ", dims + 2,
              ", but got size ", self.dim());
  TENON_CHECK(self.size(1) > 0, "[", op, "] Non-empty ", dims + 2,
              "D data tensor expected but got a tensor with sizes ", self.sizes());
  for (int64_t d = 0; d < dims; ++d) {
    TENON_CHECK(self.size(2 + d) > 0 && output_size[d] > 0, "[", op,
                "] Input and output sizes should be greater than 0, but got input ", self.sizes(),
                " and output ", output_size);
  }
}

Tensor interpolate(const char* op, const Tensor& self, IntArrayRef output_size, bool align_corners,
                   Scales scales, Filter filter) {
  check_sizes(op, self, output_size, static_cast<int64_t>(scales.size()));
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(self.scalar_type()) || self.scalar_type() == kByte,
                              "[", op, "] is not implemented for '", self.scalar_type(), "'");
  Tensor out = self.scalar_type() == kByte ? self : to_opmath_type(self);
  // The last dimension first: what is rounded between dimensions, bytes, is rounded as in PyTorch.
  for (auto d = static_cast<int64_t>(scales.size()) - 1; d >= 0; --d) {
    const Grid grid{self.size(2 + d), output_size[d], align_corners, scales.begin()[d]};
    out = resample(out, 2 + d, filter, grid);
  }
  return in_format(out.to(self.scalar_type()), self.suggest_memory_format());
}

/// An image of output_size, or of its sizes times the factors, rounded down.
Tensor by_scales(const char* op, const Tensor& input, OptionalIntArrayRef output_size,
                 bool align_corners, std::optional<ArrayRef<double>> factors, Filter filter) {
  TENON_CHECK(output_size.has_value() != factors.has_value(), "[", op,
              "] Must specify exactly one of output_size and scale_factors");
  if (output_size) return interpolate(op, input, *output_size, align_corners, {{}, {}}, filter);
  TENON_CHECK(input.dim() == 4 && factors->size() == 2, "[", op,
              "] expected [N, C, H, W] and two scale_factors, got sizes ", input.sizes(), " and ",
              factors->size(), " factors");
  const auto scaled = [&](int64_t i) {
    const double size = static_cast<double>(input.size(2 + i)) * (*factors)[i];
    TENON_CHECK(size >= 0 && size < 0x1p62, "[", op, "] an output of ", size,
                " elements exceeds the address range");
    return static_cast<int64_t>(size);
  };
  return interpolate(op, input, {scaled(0), scaled(1)}, align_corners,
                     {(*factors)[0], (*factors)[1]}, filter);
}

Tensor nearest(const char* op, const Tensor& self, IntArrayRef output_size, bool exact,
               Scales scales) {
  check_sizes(op, self, output_size, static_cast<int64_t>(scales.size()));
  // Only gradients of half types are sums.
  Tensor out = self.requires_grad() ? to_opmath_type(self) : self;
  for (auto d = static_cast<int64_t>(scales.size()) - 1; d >= 0; --d) {
    const int64_t from = self.size(2 + d), to = output_size[d];
    // As in PyTorch, a plane of the same or twice the size has that factor, whatever is given.
    const bool whole = !exact && scales.size() == 2 && (to == from || to == 2 * from);
    const Grid grid{from, to, false, whole ? std::nullopt : scales.begin()[d]};
    out = resample(out, 2 + d, exact ? Filter::NearestExact : Filter::Nearest, grid);
  }
  return in_format(out.to(self.scalar_type()), self.suggest_memory_format());
}

}  // namespace

/// Each element is that of the input which its place falls into.
Tensor native::upsample_nearest1d(const Tensor& self, IntArrayRef output_size,
                                  std::optional<double> scales) {
  return nearest("upsample_nearest1d", self, output_size, false, {scales});
}

Tensor native::upsample_nearest2d(const Tensor& self, IntArrayRef output_size,
                                  std::optional<double> scales_h, std::optional<double> scales_w) {
  return nearest("upsample_nearest2d", self, output_size, false, {scales_h, scales_w});
}

Tensor native::upsample_nearest3d(const Tensor& self, IntArrayRef output_size,
                                  std::optional<double> scales_d, std::optional<double> scales_h,
                                  std::optional<double> scales_w) {
  return nearest("upsample_nearest3d", self, output_size, false, {scales_d, scales_h, scales_w});
}

/// The same of the places' middles.
Tensor native::_upsample_nearest_exact1d(const Tensor& self, IntArrayRef output_size,
                                         std::optional<double> scales) {
  return nearest("_upsample_nearest_exact1d", self, output_size, true, {scales});
}

Tensor native::_upsample_nearest_exact2d(const Tensor& self, IntArrayRef output_size,
                                         std::optional<double> scales_h,
                                         std::optional<double> scales_w) {
  return nearest("_upsample_nearest_exact2d", self, output_size, true, {scales_h, scales_w});
}

Tensor native::_upsample_nearest_exact3d(const Tensor& self, IntArrayRef output_size,
                                         std::optional<double> scales_d,
                                         std::optional<double> scales_h,
                                         std::optional<double> scales_w) {
  return nearest("_upsample_nearest_exact3d", self, output_size, true,
                 {scales_d, scales_h, scales_w});
}

/// With align_corners the corners' elements are the input's, else both images cover the same area.
Tensor native::upsample_linear1d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                 std::optional<double> scales) {
  return interpolate("upsample_linear1d", self, output_size, align_corners, {scales},
                     Filter::Linear);
}

Tensor native::upsample_bilinear2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                   std::optional<double> scales_h, std::optional<double> scales_w) {
  return interpolate("upsample_bilinear2d", self, output_size, align_corners, {scales_h, scales_w},
                     Filter::Linear);
}

Tensor native::upsample_trilinear3d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                    std::optional<double> scales_d, std::optional<double> scales_h,
                                    std::optional<double> scales_w) {
  return interpolate("upsample_trilinear3d", self, output_size, align_corners,
                     {scales_d, scales_h, scales_w}, Filter::Linear);
}

Tensor native::upsample_bicubic2d(const Tensor& self, IntArrayRef output_size, bool align_corners,
                                  std::optional<double> scales_h, std::optional<double> scales_w) {
  return interpolate("upsample_bicubic2d", self, output_size, align_corners, {scales_h, scales_w},
                     Filter::Cubic);
}

/// Filters that let every element of a larger image count.
Tensor native::_upsample_bilinear2d_aa(const Tensor& self, IntArrayRef output_size,
                                       bool align_corners, std::optional<double> scales_h,
                                       std::optional<double> scales_w) {
  return interpolate("_upsample_bilinear2d_aa", self, output_size, align_corners,
                     {scales_h, scales_w}, Filter::LinearAntialiased);
}

Tensor native::_upsample_bicubic2d_aa(const Tensor& self, IntArrayRef output_size,
                                      bool align_corners, std::optional<double> scales_h,
                                      std::optional<double> scales_w) {
  return interpolate("_upsample_bicubic2d_aa", self, output_size, align_corners,
                     {scales_h, scales_w}, Filter::CubicAntialiased);
}

Tensor native::_upsample_bilinear2d_aa_vec(const Tensor& input, OptionalIntArrayRef output_size,
                                           bool align_corners,
                                           std::optional<ArrayRef<double>> scale_factors) {
  return by_scales("_upsample_bilinear2d_aa", input, output_size, align_corners, scale_factors,
                   Filter::LinearAntialiased);
}

Tensor native::_upsample_bicubic2d_aa_vec(const Tensor& input, OptionalIntArrayRef output_size,
                                          bool align_corners,
                                          std::optional<ArrayRef<double>> scale_factors) {
  return by_scales("_upsample_bicubic2d_aa", input, output_size, align_corners, scale_factors,
                   Filter::CubicAntialiased);
}

/// [C, D, H, W] or [N, C, D, H, W] to the sizes given: each element is the mean over a box.
Tensor native::adaptive_avg_pool3d(const Tensor& self, IntArrayRef output_size) {
  constexpr const char* kOp = "adaptive_avg_pool3d";
  TENON_CHECK(output_size.size() == 3, "[", kOp, "] output_size must be 3, got ", output_size);
  const bool ones =
      std::all_of(output_size.begin(), output_size.end(), [](int64_t n) { return n == 1; });
  if (ones && self.numel() > 0) {
    // Of any number of dimensions.
    return in_format(mean(self, {-1, -2, -3}, /*keepdim=*/true),
                     self.dim() == 5 ? self.suggest_memory_format() : MemoryFormat::Contiguous);
  }
  TENON_CHECK(self.dim() == 4 || self.dim() == 5, "[", kOp, "] Expected 4D or 5D tensor, but got ",
              self.sizes());
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(self.scalar_type()), "[", kOp,
                              "] is not implemented for '", self.scalar_type(), "'");
  Tensor out = to_opmath_type(self);
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t d = self.dim() - 3 + i;
    TENON_CHECK(self.size(d) > 0, "[", kOp,
                "] Expected input to have non-zero size for non-batch dimensions, but input has "
                "sizes ",
                self.sizes(), " with dimension ", d, " being empty");
    TENON_CHECK(output_size[i] >= 0, "[", kOp,
                "] elements of output_size must be greater than or equal to 0, got ", output_size);
    out = output_size[i] == 0
              ? out.narrow(d, 0, 0)
              : resample(out, d, Filter::Mean, Grid{self.size(d), output_size[i], false, {}});
  }
  return out.to(self.scalar_type()).contiguous();
}

}  // namespace tenon

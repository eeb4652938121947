#include "aten/meta/pooling.h"

#include <array>

#include "aten/meta/checks.h"

namespace tenon {
namespace {

std::array<int64_t, 2> pair(const char* op, const char* name, IntArrayRef values) {
  TENON_CHECK(values.size() == 1 || values.size() == 2, "[", op, "] ", name,
              " must either be a single int, or a tuple of two ints, got ", values);
  return {values[0], values[values.size() - 1]};
}

/// `covered`: input elements that a window spans.
int64_t output_size(const char* op, int64_t in, int64_t covered, int64_t stride, int64_t pad,
                    bool ceil_mode) {
  const int64_t places = meta::multiply_add(op, 2, pad, in) - covered;
  const int64_t rest = places % stride;
  const int64_t out = places / stride + (rest < 0 ? 0 : 1);
  // A last window that is cut off, unless it would lie in the right padding alone.
  return ceil_mode && rest != 0 && out <= (in + pad - 1) / stride ? out + 1 : out;
}

}  // namespace

meta::Pool2d meta::pool2d(const char* op, const TensorBase& input, IntArrayRef kernel_size,
                          IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                          bool ceil_mode) {
  const auto [kh, kw] = pair(op, "kernel_size", kernel_size);
  const auto [sh, sw] = stride.empty() ? std::array{kh, kw} : pair(op, "stride", stride);
  const auto [ph, pw] = pair(op, "padding", padding);
  const auto [dh, dw] = pair(op, "dilation", dilation);
  TENON_CHECK(kh > 0 && kw > 0, "[", op,
              "] kernel size should be greater than zero, but got kH: ", kh, " kW: ", kw);
  TENON_CHECK(sh != 0 && sw != 0, "[", op, "] stride should not be zero, but got dH: ", sh,
              " dW: ", sw);
  TENON_CHECK(sh > 0 && sw > 0, "[", op, "] stride should be greater than zero, but got dH: ", sh,
              " dW: ", sw);
  TENON_CHECK(dh > 0 && dw > 0, "[", op,
              "] dilation should be greater than zero, but got dilationH: ", dh,
              " dilationW: ", dw);
  TENON_CHECK(ph >= 0 && pw >= 0, "[", op, "] pad must be non-negative, but got pad: ", padding);
  const int64_t covered_h = multiply_add(op, kh - 1, dh, 1);
  const int64_t covered_w = multiply_add(op, kw - 1, dw, 1);
  TENON_CHECK(ph <= covered_h / 2 && pw <= covered_w / 2, "[", op,
              "] pad should be at most half of effective kernel size, but got pad=", padding,
              ", kernel_size=", kernel_size, " and dilation=", dilation);
  const int64_t dims = input.dim();
  TENON_CHECK(dims == 3 || dims == 4, "[", op,
              "] Expected 3D or 4D (batch mode) tensor with optional 0 dim batch ",
              "size for input, but got: ", input.sizes());
  for (int64_t d = dims - 3; d < dims; ++d) {
    TENON_CHECK(input.size(d) > 0, "[", op,
                "] Expected 3D or 4D (batch mode) tensor with optional 0 dim batch ",
                "size for input, but got: ", input.sizes());
  }
  const int64_t h = input.size(-2), w = input.size(-1), channels = input.size(-3);
  const int64_t out_h = output_size(op, h, covered_h, sh, ph, ceil_mode),
                out_w = output_size(op, w, covered_w, sw, pw, ceil_mode);
  TENON_CHECK(out_h >= 1 && out_w >= 1, "[", op, "] Given input size: (", channels, "x", h, "x", w,
              "). Calculated output size: (", channels, "x", out_h, "x", out_w,
              "). Output size is too small");
  const int64_t planes = dims == 4 ? input.size(0) * channels : channels;
  return {planes, h, w, out_h, out_w, kh, kw, sh, sw, ph, pw, dh, dw};
}

DimVector meta::plane_sizes(const TensorBase& input, int64_t h, int64_t w) {
  DimVector sizes(input.sizes());
  sizes[sizes.size() - 2] = h;
  sizes[sizes.size() - 1] = w;
  return sizes;
}

void meta::check_adaptive_max_pool(const char* op, const TensorBase& self, IntArrayRef output_size,
                                   int64_t dims) {
  // PyTorch's words, by which programs and its tests tell this error.
  const bool given = static_cast<int64_t>(output_size.size()) == dims;
  TENON_CHECK(given || dims != 1, "[", op, "] 'output_size' should contain one int, got ",
              output_size);
  TENON_CHECK(given, "[", op, "] internal error: output_size.size() must be ", dims, ", got ",
              output_size);
  TENON_CHECK(self.dim() == dims + 1 || self.dim() == dims + 2, "[", op, "] Expected ", dims + 1,
              "D or ", dims + 2, "D tensor, but got: ", self.sizes());
  const int64_t first = self.dim() - dims;
  for (int64_t i = 0; i < dims; ++i) {
    TENON_CHECK(self.size(first + i) > 0, "[", op,
                "] Expected input to have non-zero size for non-batch dimensions, but input has "
                "sizes ",
                self.sizes(), " with dimension ", first + i, " being empty");
    TENON_CHECK(output_size[i] >= 0, "[", op, "] Trying to create tensor with negative dimension ",
                output_size[i], ": ", output_size);
  }
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(self.scalar_type()), "[", op,
                              "] is not implemented for '", self.scalar_type(), "'");
}

}  // namespace tenon

#include "aten/meta/pooling.h"

#include <array>

namespace tenon {
namespace {

std::array<int64_t, 2> pair(const char* op, const char* name, IntArrayRef values) {
  TENON_CHECK(values.size() == 1 || values.size() == 2, "[", op, "] ", name,
              " must either be a single int, or a tuple of two ints, got ", values);
  return {values[0], values[values.size() - 1]};
}

int64_t output_size(int64_t in, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation,
                    bool ceil_mode) {
  const int64_t span = in + 2 * pad - dilation * (kernel - 1) - 1 + (ceil_mode ? stride - 1 : 0);
  int64_t out = (span >= 0 ? span / stride : -((-span + stride - 1) / stride)) + 1;
  if (ceil_mode && (out - 1) * stride >= in + pad)
    --out;  // no window that lies in the right padding alone
  return out;
}

}  // namespace

meta::Pool2d meta::pool2d(const char* op, const TensorBase& input, IntArrayRef kernel_size,
                          IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                          bool ceil_mode) {
  const auto [kh, kw] = pair(op, "kernel_size", kernel_size);
  const auto [sh, sw] = stride.empty() ? std::array{kh, kw} : pair(op, "stride", stride);
  const auto [ph, pw] = pair(op, "padding", padding);
  const auto [dh, dw] = pair(op, "dilation", dilation);
  const int64_t dims = input.dim();
  TENON_CHECK(dims == 3 || dims == 4, "[", op,
              "] Expected 3D or 4D (batch mode) tensor with optional 0 dim batch ",
              "size for input, but got: ", input.sizes());
  for (int64_t d = dims - 3; d < dims; ++d) {
    TENON_CHECK(input.size(d) > 0, "[", op,
                "] Expected 3D or 4D (batch mode) tensor with optional 0 dim batch ",
                "size for input, but got: ", input.sizes());
  }
  TENON_CHECK(kh > 0 && kw > 0, "[", op,
              "] kernel size should be greater than zero, but got kH: ", kh, " kW: ", kw);
  TENON_CHECK(sh > 0 && sw > 0, "[", op, "] stride should be greater than zero, but got dH: ", sh,
              " dW: ", sw);
  TENON_CHECK(dh > 0 && dw > 0, "[", op,
              "] dilation should be greater than zero, but got dilationH: ", dh,
              " dilationW: ", dw);
  TENON_CHECK(ph >= 0 && pw >= 0, "[", op, "] pad must be non-negative, but got pad: ", padding);
  TENON_CHECK(ph <= ((kh - 1) * dh + 1) / 2 && pw <= ((kw - 1) * dw + 1) / 2, "[", op,
              "] pad should be at most half of effective kernel size, but got pad=", padding,
              ", kernel_size=", kernel_size, " and dilation=", dilation);
  const int64_t h = input.size(-2), w = input.size(-1), channels = input.size(-3);
  const int64_t out_h = output_size(h, kh, sh, ph, dh, ceil_mode),
                out_w = output_size(w, kw, sw, pw, dw, ceil_mode);
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

DimVector meta::strides_like(const TensorBase& input, IntArrayRef sizes) {
  const MemoryFormat format =
      input.dim() == 4 ? input.suggest_memory_format() : MemoryFormat::Contiguous;
  return format == MemoryFormat::Contiguous ? DimVector() : strides_of_format(sizes, format);
}

}  // namespace tenon

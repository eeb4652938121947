#pragma once

#include <array>

#include "aten/core/tensor_base.h"

namespace tenon::native {

/// A convolution src [batch, channels, in...] * weight [outputs, channels / groups, kernel...]
/// -> dst [batch, outputs, out...] of 1 to 3 spatial dimensions. The arrays hold three; leading
/// ones that are not there have size 1, stride 1, no padding. A transposed convolution is the same
/// thing with its input as `dst` and its output as the gradient of `src`.
struct ConvGeometry {
  using Triple = std::array<int64_t, 3>;

  int64_t spatial, batch, channels, outputs, groups;
  Triple in, out, kernel, stride, padding, dilation;

  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  int64_t kernel_size() const { return kernel[0] * kernel[1] * kernel[2]; }
};

/// Geometry of `src` convolved with `weight` to `dst`; the lists have one value per spatial
/// dimension.
ConvGeometry conv_geometry(const TensorBase& src, const TensorBase& weight, const TensorBase& dst,
                           IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                           int64_t groups);

}  // namespace tenon::native

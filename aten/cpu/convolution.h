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

/// dst = src * weight + bias (bias may be undefined). src and dst are row-major or channels last,
/// weight and bias row-major.
void conv_forward(const ConvGeometry& g, const TensorBase& src, const TensorBase& weight,
                  const TensorBase& bias, const TensorBase& dst);
/// diff_src: the gradient of src.
void conv_backward_data(const ConvGeometry& g, const TensorBase& diff_src, const TensorBase& weight,
                        const TensorBase& diff_dst);
/// diff_weight and, if it is defined, diff_bias [outputs].
void conv_backward_weight(const ConvGeometry& g, const TensorBase& src,
                          const TensorBase& diff_weight, const TensorBase& diff_bias,
                          const TensorBase& diff_dst);

/// The same by way of im2col and gemm: float or double, row-major operands only.
namespace im2col {
/// Whether this way is the fastest: for 1x1 kernels the patches are the image itself.
bool applies(const ConvGeometry& g, const TensorBase& src, const TensorBase& dst);
void forward(const ConvGeometry& g, const TensorBase& src, const TensorBase& weight,
             const TensorBase& bias, const TensorBase& dst);
void backward_data(const ConvGeometry& g, const TensorBase& diff_src, const TensorBase& weight,
                   const TensorBase& diff_dst);
void backward_weight(const ConvGeometry& g, const TensorBase& src, const TensorBase& diff_weight,
                     const TensorBase& diff_bias, const TensorBase& diff_dst);
}  // namespace im2col

/// out[c] = sum of t [batch, channels, ...] over everything but the channels; row-major t.
void sum_per_channel(const TensorBase& t, const TensorBase& out);

}  // namespace tenon::native

#pragma once

#include "aten/common/conv_geometry.h"

namespace tenon::native {

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

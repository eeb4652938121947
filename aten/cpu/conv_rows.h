#pragma once

#include "aten/cpu/convolution.h"

/// Convolutions of few channels, for which blocked layouts would mostly hold padding and im2col
/// would mostly copy: two spatial dimensions, float, stride and dilation 1, one group, row-major. A
/// tile of output channels times pixels accumulates in registers, straight from a padded copy of
/// one image.
namespace tenon::native::conv_rows {

/// Whether the functions below take the problem.
bool applies(const ConvGeometry& g, const TensorBase& src, const TensorBase& dst);

void forward(const ConvGeometry& g, const TensorBase& src, const TensorBase& weight,
             const TensorBase& bias, const TensorBase& dst);
void backward_data(const ConvGeometry& g, const TensorBase& diff_src, const TensorBase& weight,
                   const TensorBase& diff_dst);
void backward_weight(const ConvGeometry& g, const TensorBase& src, const TensorBase& diff_weight,
                     const TensorBase& diff_bias, const TensorBase& diff_dst);

}  // namespace tenon::native::conv_rows

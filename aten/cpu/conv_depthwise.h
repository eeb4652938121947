#pragma once

#include "aten/cpu/convolution.h"

/// Depthwise convolutions of row-major images: every channel has its own kernel of one plane, so
/// that blocked layouts would cost more than the arithmetic. Two spatial dimensions, float, stride
/// and dilation 1; vectors run along the rows of a padded copy of one plane.
namespace tenon::native::conv_depthwise {

/// Whether the functions below take the problem.
bool applies(const ConvGeometry& g, const TensorBase& src, const TensorBase& dst);

void forward(const ConvGeometry& g, const TensorBase& src, const TensorBase& weight,
             const TensorBase& bias, const TensorBase& dst);
void backward_data(const ConvGeometry& g, const TensorBase& diff_src, const TensorBase& weight,
                   const TensorBase& diff_dst);

}  // namespace tenon::native::conv_depthwise

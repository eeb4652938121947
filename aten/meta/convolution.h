#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::meta {

/// Checks the operands of a convolution and returns its result's sizes.
/// Convolution: out = (in + 2 padding - dilation (kernel - 1) - 1) / stride + 1.
/// Transposed: out = (in - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1.
DimVector convolution_sizes(const char* op, const TensorBase& input, const TensorBase& weight,
                            const TensorBase* bias, IntArrayRef stride, IntArrayRef padding,
                            IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                            int64_t groups);

/// That the operands make a convolution whose result has grad_output's shape.
void check_convolution_backward(const TensorBase& grad_output, const TensorBase& input,
                                const TensorBase& weight, IntArrayRef stride, IntArrayRef padding,
                                IntArrayRef dilation, bool transposed, IntArrayRef output_padding,
                                int64_t groups);

/// ChannelsLast where the input or the weight is laid out so, as PyTorch decides it.
MemoryFormat convolution_format(const TensorBase& input, const TensorBase& weight);

}  // namespace tenon::meta

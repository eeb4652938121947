#pragma once

#include <array>
#include <optional>
#include <tuple>

#include "aten/cpu/convolution.h"
#include "tenon/tensor.h"

namespace tenon::native {

/// convolution_cpu of ComplexFloat and ComplexDouble.
void convolution_complex(const Tensor& input, const Tensor& weight,
                         const std::optional<Tensor>& bias, IntArrayRef stride, IntArrayRef padding,
                         IntArrayRef dilation, bool transposed, int64_t groups, const Tensor& out);
/// convolution_backward_cpu of the same.
std::tuple<Tensor, Tensor, Tensor>
convolution_backward_complex(const Tensor& grad_output, const Tensor& input, const Tensor& weight,
                             IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                             bool transposed, IntArrayRef output_padding, int64_t groups,
                             std::array<bool, 3> output_mask);
/// convolution_cpu of Long, modulo 2^64.
void convolution_long(const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
                      IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation,
                      bool transposed, int64_t groups, const Tensor& out);

}  // namespace tenon::native

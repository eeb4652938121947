#include "tenon/native/convolution_backward.h"

#include "aten/meta/convolution.h"

namespace tenon {

/// Gradients of input, weight and bias with their shapes; those not asked for are undefined.
std::tuple<Tensor, Tensor, Tensor> native::convolution_backward_meta(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight, OptionalIntArrayRef,
    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
    IntArrayRef output_padding, int64_t groups, std::array<bool, 3> output_mask) {
  meta::check_convolution_backward(grad_output, input, weight, stride, padding, dilation,
                                   transposed, output_padding, groups);
  std::tuple<Tensor, Tensor, Tensor> grads;
  if (output_mask[0])
    std::get<0>(grads) = empty(input.sizes(), input.scalar_type(), input.device());
  if (output_mask[1])
    std::get<1>(grads) = empty(weight.sizes(), weight.scalar_type(), weight.device());
  if (output_mask[2])
    std::get<2>(grads) = empty(grad_output.size(1), weight.scalar_type(), weight.device());
  return grads;
}

}  // namespace tenon

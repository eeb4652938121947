#include "tenon/native/convolution_backward.h"

#include <cstring>

#include "aten/common/contiguous.h"
#include "aten/cpu/convolution.h"
#include "aten/cpu/convolution_other.h"
#include "aten/iterator/element_copy.h"
#include "aten/meta/convolution.h"

namespace tenon {
namespace {

TensorBase like(const TensorBase& t) {
  return t.is_contiguous() ? empty(t.sizes(), t.scalar_type(), t.device())
                           : empty_strided(t.sizes(), t.strides(), t.scalar_type(), t.device());
}

TensorBase zeros(IntArrayRef sizes, const TensorBase& options) {
  TensorBase t = empty(sizes, options.scalar_type(), options.device());
  if (t.nbytes() > 0) std::memset(t.data_ptr(), 0, t.nbytes());
  return t;
}

/// Sums of half types are accumulated in float.
TensorBase bias_gradient(const TensorBase& grad_output) {
  TensorBase out = empty(grad_output.size(1), grad_output.scalar_type(), grad_output.device());
  if (!is_reduced_floating_point(grad_output.scalar_type())) {
    native::sum_per_channel(native::contiguous(grad_output), out);
    return out;
  }
  const TensorBase values = native::contiguous(grad_output, kFloat);
  const TensorBase sums = empty(out.sizes(), kFloat, out.device());
  native::sum_per_channel(values, sums);
  native::copy(out, sums);
  return out;
}

}  // namespace

/// Gradients of input, weight and bias; only those in the mask are computed.
std::tuple<Tensor, Tensor, Tensor> native::convolution_backward_cpu(
    const Tensor& grad_output, const Tensor& input, const Tensor& weight, OptionalIntArrayRef,
    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
    IntArrayRef output_padding, int64_t groups, std::array<bool, 3> output_mask) {
  meta::check_convolution_backward(grad_output, input, weight, stride, padding, dilation,
                                   transposed, output_padding, groups);
  std::tuple<Tensor, Tensor, Tensor> grads;
  auto& [grad_input, grad_weight, grad_bias] = grads;
  if (grad_output.numel() == 0 || input.numel() == 0) {
    if (output_mask[0]) grad_input = zeros(input.sizes(), input);
    if (output_mask[1]) grad_weight = zeros(weight.sizes(), weight);
    if (output_mask[2]) grad_bias = zeros(grad_output.size(1), weight);
    return grads;
  }
  if (is_complex(grad_output.scalar_type())) {
    return convolution_backward_complex(grad_output, input, weight, stride, padding, dilation,
                                        transposed, output_padding, groups, output_mask);
  }
  const MemoryFormat format = contiguous_format(input).value_or(MemoryFormat::Contiguous);
  const TensorBase x = contiguous(input, input.scalar_type(), format), w = contiguous(weight),
                   dy = contiguous(grad_output, grad_output.scalar_type(), format);
  if (output_mask[0]) grad_input = like(x);
  if (output_mask[1]) grad_weight = empty(w.sizes(), w.scalar_type(), w.device());
  if (transposed) {
    const ConvGeometry g = conv_geometry(dy, w, x, stride, padding, dilation, groups);
    if (output_mask[0]) conv_forward(g, dy, w, TensorBase(), grad_input);
    if (output_mask[1]) conv_backward_weight(g, dy, grad_weight, TensorBase(), x);
    if (output_mask[2]) grad_bias = bias_gradient(dy);
    return grads;
  }
  const ConvGeometry g = conv_geometry(x, w, dy, stride, padding, dilation, groups);
  if (output_mask[0]) conv_backward_data(g, grad_input, w, dy);
  if (output_mask[1]) {
    if (output_mask[2]) grad_bias = empty(dy.size(1), w.scalar_type(), w.device());
    conv_backward_weight(g, x, grad_weight, grad_bias, dy);
  } else if (output_mask[2]) {
    grad_bias = bias_gradient(dy);
  }
  return grads;
}

}  // namespace tenon

#include "tenon/native/_convolution_double_backward.h"

#include "tenon/ops/add.h"
#include "tenon/ops/convolution.h"
#include "tenon/ops/convolution_backward.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/reshape.h"

namespace tenon {

/// A convolution c(x, w) is linear in both, so that with L = <ggI, dc/dx> + <ggW, dc/dw> + <ggb,
/// sum gO>, that is L = <c(ggI, w) + c(x, ggW) + ggb, gO>, the gradients are
///   gO: c(ggI, w) + c(x, ggW) + ggb;   w: the weight's gradient for ggI;   x: the input's gradient
///   for ggW.
std::tuple<Tensor, Tensor, Tensor> native::_convolution_double_backward(
    const std::optional<Tensor>& ggI, const std::optional<Tensor>& ggW,
    const std::optional<Tensor>& ggb, const Tensor& gO, const Tensor& weight, const Tensor& self,
    IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
    IntArrayRef output_padding, int64_t groups, std::array<bool, 3> output_mask) {
  const bool has_input = ggI && ggI->defined(), has_weight = ggW && ggW->defined(),
             has_bias = ggb && ggb->defined();
  const auto convolve = [&](const Tensor& x, const Tensor& w) {
    return convolution(x, w, std::nullopt, stride, padding, dilation, transposed, output_padding,
                       groups);
  };
  const auto backward = [&](const Tensor& x, const Tensor& w, std::array<bool, 3> mask) {
    return convolution_backward(gO, x, w, {}, stride, padding, dilation, transposed, output_padding,
                                groups, mask);
  };
  Tensor grad_gO, grad_self, grad_weight;
  if (output_mask[0]) {
    if (has_input) grad_gO = convolve(*ggI, weight);
    if (has_weight) {
      const Tensor part = convolve(self, *ggW);
      grad_gO = grad_gO.defined() ? add(grad_gO, part) : part;
    }
    if (has_bias) {
      DimVector sizes(static_cast<size_t>(gO.dim()), 1);
      sizes[1] = ggb->numel();
      const Tensor part = expand(reshape(*ggb, sizes), gO.sizes());
      grad_gO = grad_gO.defined() ? add(grad_gO, part) : part;
    }
  }
  if (output_mask[1] && has_weight)
    grad_self = std::get<0>(backward(self, *ggW, {true, false, false}));
  if (output_mask[2] && has_input)
    grad_weight = std::get<1>(backward(*ggI, weight, {false, true, false}));
  return {grad_gO, grad_self, grad_weight};
}

}  // namespace tenon

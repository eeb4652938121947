#include "tenon/native/native_layer_norm_backward.h"

#include "aten/meta/layer_norm.h"

namespace tenon {

std::tuple<Tensor, Tensor, Tensor> native::native_layer_norm_backward_meta(
    const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean,
    const Tensor& rstd, const std::optional<Tensor>& weight, const std::optional<Tensor>&,
    std::array<bool, 3> output_mask) {
  meta::check_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd,
                                  weight && weight->defined() ? &*weight : nullptr);
  std::tuple<Tensor, Tensor, Tensor> grads;
  if (output_mask[0])
    std::get<0>(grads) = empty(input.sizes(), input.scalar_type(), input.device());
  if (output_mask[1])
    std::get<1>(grads) = empty(normalized_shape, input.scalar_type(), input.device());
  if (output_mask[2])
    std::get<2>(grads) = empty(normalized_shape, input.scalar_type(), input.device());
  return grads;
}

}  // namespace tenon

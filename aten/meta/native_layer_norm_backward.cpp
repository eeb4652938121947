#include "tenon/native/native_layer_norm_backward.h"

namespace tenon {

std::tuple<Tensor, Tensor, Tensor>
native::native_layer_norm_backward_meta(const Tensor& grad_out, const Tensor& input,
                                        IntArrayRef normalized_shape, const Tensor&, const Tensor&,
                                        const std::optional<Tensor>&, const std::optional<Tensor>&,
                                        std::array<bool, 3> output_mask) {
  TENON_CHECK(grad_out.sizes() == input.sizes(),
              "[native_layer_norm_backward] Expected grad_out to have the ", "input's shape ",
              input.sizes(), ", got ", grad_out.sizes());
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

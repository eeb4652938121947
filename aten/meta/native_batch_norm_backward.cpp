#include "tenon/native/native_batch_norm_backward.h"

#include "aten/meta/batch_norm.h"

namespace tenon {

void meta::check_batch_norm_backward(const TensorBase& grad_out, const TensorBase& input,
                                     const std::optional<Tensor>& mean,
                                     const std::optional<Tensor>& spread, bool train) {
  TENON_CHECK(grad_out.sizes() == input.sizes(),
              "[native_batch_norm_backward] Expected grad_out to have the input's shape ",
              input.sizes(), ", got ", grad_out.sizes());
  TENON_CHECK(mean && mean->defined() && spread && spread->defined(),
              "[native_batch_norm_backward] needs ",
              train ? "save_mean and save_invstd" : "running_mean and running_var",
              " with train=", train ? "true" : "false");
}

std::tuple<Tensor, Tensor, Tensor> native::native_batch_norm_backward_meta(
    const Tensor& grad_out, const Tensor& input, const std::optional<Tensor>&,
    const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
    const std::optional<Tensor>& save_mean, const std::optional<Tensor>& save_invstd, bool train,
    double, std::array<bool, 3> output_mask) {
  meta::check_batch_norm_backward(grad_out, input, train ? save_mean : running_mean,
                                  train ? save_invstd : running_var, train);
  std::tuple<Tensor, Tensor, Tensor> grads;
  if (output_mask[0])
    std::get<0>(grads) = empty(input.sizes(), input.scalar_type(), input.device());
  if (output_mask[1])
    std::get<1>(grads) = empty(input.size(1), input.scalar_type(), input.device());
  if (output_mask[2])
    std::get<2>(grads) = empty(input.size(1), input.scalar_type(), input.device());
  return grads;
}

}  // namespace tenon

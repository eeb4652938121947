#include "tenon/native/native_layer_norm_backward.h"

#include "aten/cpu/norm_rows.h"
#include "aten/cpu/plain.h"
#include "aten/meta/layer_norm.h"

namespace tenon {

/// Gradients of input, weight and bias; those not in the mask, or of a parameter that is not there,
/// are undefined.
std::tuple<Tensor, Tensor, Tensor> native::native_layer_norm_backward_cpu(
    const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean,
    const Tensor& rstd, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    std::array<bool, 3> output_mask) {
  meta::check_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd,
                                  weight && weight->defined() ? &*weight : nullptr);
  const int64_t n = numel_of(normalized_shape), rows = mean.numel();
  const ScalarType type = opmath_type(input.scalar_type());
  std::tuple<Tensor, Tensor, Tensor> grads;
  auto& [grad_input, grad_weight, grad_bias] = grads;
  const auto parameter = [&](const std::optional<Tensor>& p) {
    return p && p->defined() ? p->scalar_type() : input.scalar_type();
  };
  if (output_mask[0]) grad_input = empty(input.sizes(), input.scalar_type(), input.device());
  if (output_mask[1]) grad_weight = empty(normalized_shape, parameter(weight), input.device());
  if (output_mask[2]) grad_bias = empty(normalized_shape, parameter(bias), input.device());

  const TensorBase dy = plain_input(grad_out, type), x = plain_input(input, type),
                   w = plain_input(weight, type);
  const TensorBase means = plain_input(mean, type), rstds = plain_input(rstd, type);
  const auto plain = [&](const Tensor& t) {
    return !t.defined() || t.scalar_type() == type ? static_cast<const TensorBase&>(t)
                                                   : empty(t.sizes(), type, t.device());
  };
  const TensorBase dx = plain(grad_input), dw = plain(grad_weight), db = plain(grad_bias);
  TENON_DISPATCH_FLOATING(type, "native_layer_norm_backward", {
    layer_norm_backward<scalar_t>(dy.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(),
                                  means.data_ptr<scalar_t>(), rstds.data_ptr<scalar_t>(),
                                  data_or_null<scalar_t>(w), data_or_null<scalar_t>(dx),
                                  data_or_null<scalar_t>(dw), data_or_null<scalar_t>(db), rows, n);
  });
  if (!dx.is_same(grad_input)) copy(grad_input, dx);
  if (!dw.is_same(grad_weight)) copy(grad_weight, dw);
  if (!db.is_same(grad_bias)) copy(grad_bias, db);
  return grads;
}

}  // namespace tenon

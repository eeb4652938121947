#include "tenon/native/batch_norm.h"

#include "tenon/native/_batch_norm_no_update.h"
#include "tenon/native/_batch_norm_with_update.h"
#include "tenon/native/_native_batch_norm_legit.h"
#include "tenon/native/batch_norm_backward.h"

#include "tenon/ops/add.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/native_batch_norm.h"
#include "tenon/ops/native_batch_norm_backward.h"

namespace tenon {

/// y = (x - mean) / sqrt(var + eps) * weight + bias over each channel, with the batch's statistics
/// in training (var divided by n), which also move the running ones (var divided by n - 1), and the
/// running ones otherwise.
Tensor native::batch_norm(const Tensor& input, const std::optional<Tensor>& weight,
                          const std::optional<Tensor>& bias,
                          const std::optional<Tensor>& running_mean,
                          const std::optional<Tensor>& running_var, bool training, double momentum,
                          double eps, bool) {
  // Nothing has no statistics, and may be of any dtype.
  if (input.numel() == 0) {
    Tensor out = clone(input);
    if (weight && weight->defined()) out = out * weight->select(0, 0);
    return bias && bias->defined() ? out + bias->select(0, 0) : out;
  }
  TENON_CHECK(training || (running_mean && running_mean->defined() && running_var &&
                           running_var->defined()),
              "[batch_norm] Expected running_mean and running_var to be defined when training is "
              "False");
  return std::get<0>(
      native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps));
}

std::tuple<Tensor, Tensor, Tensor>
native::_native_batch_norm_legit(const Tensor& input, const std::optional<Tensor>& weight,
                                 const std::optional<Tensor>& bias, Tensor& running_mean,
                                 Tensor& running_var, bool training, double momentum, double eps) {
  return native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps);
}

std::tuple<Tensor&, Tensor&, Tensor&> native::_native_batch_norm_legit_out(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    Tensor& running_mean, Tensor& running_var, bool training, double momentum, double eps,
    Tensor& out, Tensor& save_mean, Tensor& save_invstd) {
  return native_batch_norm_out(out, save_mean, save_invstd, input, weight, bias, running_mean,
                               running_var, training, momentum, eps);
}

std::tuple<Tensor, Tensor, Tensor, Tensor>
native::_batch_norm_with_update(const Tensor& input, const std::optional<Tensor>& weight,
                                const std::optional<Tensor>& bias, Tensor& running_mean,
                                Tensor& running_var, double momentum, double eps) {
  const auto [out, mean, invstd] =
      native_batch_norm(input, weight, bias, running_mean, running_var, true, momentum, eps);
  return {out, mean, invstd, tenon::empty({0}, input.options().dtype(kByte))};
}

std::tuple<Tensor&, Tensor&, Tensor&, Tensor&>
native::_batch_norm_with_update_out(const Tensor& input, const std::optional<Tensor>& weight,
                                    const std::optional<Tensor>& bias, Tensor& running_mean,
                                    Tensor& running_var, double momentum, double eps, Tensor& out,
                                    Tensor& save_mean, Tensor& save_invstd, Tensor& reserve) {
  native_batch_norm_out(out, save_mean, save_invstd, input, weight, bias, running_mean, running_var,
                        true, momentum, eps);
  return {out, save_mean, save_invstd, reserve};
}

std::tuple<Tensor, Tensor, Tensor, Tensor> native::_batch_norm_no_update(
    const Tensor& input, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
    double momentum, double eps) {
  const auto [out, mean, invstd] =
      native_batch_norm(input, weight, bias, running_mean, running_var, false, momentum, eps);
  return {out, mean, invstd, tenon::empty({0}, input.options().dtype(kByte))};
}

std::tuple<Tensor, Tensor, Tensor> native::batch_norm_backward(
    const Tensor& grad_out, const Tensor& input, const Tensor& weight,
    const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
    const std::optional<Tensor>& save_mean, const std::optional<Tensor>& save_var, bool update,
    double eps, std::array<bool, 3> output_mask, const Tensor&) {
  return native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean,
                                    save_var, update, eps, output_mask);
}

}  // namespace tenon

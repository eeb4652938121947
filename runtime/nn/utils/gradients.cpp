#include "runtime/nn/utils/gradients.h"

#include <cmath>

#include "aten/core/thread_state.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/clamp.h"
#include "tenon/ops/linalg_vector_norm.h"
#include "tenon/ops/stack.h"

namespace tenon::nn::utils {
namespace {

void check_one_device(const std::vector<Tensor>& parameters) {
  for (const Tensor& p : parameters) {
    TENON_CHECK(p.device() == parameters[0].device(),
                "Found two parameters on different devices, this is currently not supported.");
  }
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type,
                       bool error_if_nonfinite) {
  NoGradGuard no_grad;
  std::vector<Tensor> grads, norms;
  for (const Tensor& p : parameters) {
    if (p.grad().defined()) grads.push_back(p.grad());
  }
  if (grads.empty()) return 0;
  for (const Tensor& grad : grads)
    norms.push_back(linalg_vector_norm(grad, norm_type).to(grads[0].device()));
  const Tensor norm = linalg_vector_norm(stack(norms), norm_type);
  const auto total = norm.item<double>();
  TENON_CHECK(!error_if_nonfinite || std::isfinite(total), "The total norm of order ", norm_type,
              " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable "
              "this error and scale the gradients with the non-finite norm anyway, set "
              "`error_if_nonfinite=false`");
  const Tensor factor = clamp(max_norm / (norm + 1e-6), std::nullopt, 1);
  for (const Tensor& grad : grads) grad.mul_(factor.to(grad.device()));
  return total;
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value) {
  NoGradGuard no_grad;
  for (const Tensor& p : parameters) {
    if (p.grad().defined()) p.grad().clamp_(-clip_value, clip_value);
  }
}

Tensor parameters_to_vector(const std::vector<Tensor>& parameters) {
  check_one_device(parameters);
  std::vector<Tensor> flat;
  for (const Tensor& p : parameters) flat.push_back(p.reshape({-1}));
  return cat(flat);
}

void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters) {
  check_one_device(parameters);
  int64_t at = 0;
  for (const Tensor& p : parameters) {
    p.set_data(vector.narrow(0, at, p.numel()).view(p.sizes()).data());
    at += p.numel();
  }
}

}  // namespace tenon::nn::utils

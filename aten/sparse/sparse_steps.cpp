#include "aten/sparse/sparse_kernels.h"

#include <cmath>

#include "aten/sparse/sparse_tensor.h"
#include "tenon/native/_sparse_adam_step.h"
#include "tenon/ops/add.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/div.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/sqrt.h"
#include "tenon/ops/sub.h"

namespace tenon {
namespace {

using sparse::elements_at;
using sparse::values_of;
using sparse::with_values;

Tensor ascending(const Tensor& grad, bool maximize) {
  TENON_CHECK_NOT_IMPLEMENTED(grad.layout() == kSparse,
                              "an optimizer's gradient must be strided or sparse_coo, got ",
                              grad.layout());
  const Tensor coo = ops::coalesce::call(grad);
  return maximize ? with_values(coo, ops::neg::call(values_of(coo))) : coo;
}

}  // namespace

namespace sparse {

/// Steps of optimizers with sparse gradients of strided parameters.
Tensor& sgd_step_(Tensor& self, const Tensor& grad, const std::optional<Tensor>& momentum_buffer,
                  double lr, double momentum, double dampening, double weight_decay, bool nesterov,
                  bool maximize, bool is_first_step) {
  TENON_CHECK(weight_decay == 0,
              "add(sparse, dense) is not supported. Use add(dense, sparse) instead: weight_decay "
              "needs a strided gradient");
  const Tensor d = ascending(grad, maximize);
  if (!momentum_buffer || !momentum_buffer->defined()) return self.add_(d, -lr);
  Tensor buffer = *momentum_buffer;
  if (is_first_step) {
    buffer.zero_().add_(d);
  } else {
    buffer.mul_(momentum).add_(d, 1 - dampening);
  }
  buffer.unsafe_impl()->bump_version();
  if (!nesterov) return self.add_(buffer, -lr);
  return self.add_(d, -lr).add_(buffer, -lr * momentum);
}

Tensor& adagrad_step_(Tensor& self, const Tensor& grad, Tensor& state_sum, int64_t step, double lr,
                      double eps, double lr_decay, double weight_decay, bool maximize) {
  TENON_CHECK(weight_decay == 0, "weight_decay option is not compatible with sparse gradients");
  const Tensor g = ascending(grad, maximize), values = values_of(g);
  state_sum.add_(with_values(g, values * values));
  const Tensor deviation = elements_at(state_sum, indices_of(g)).sqrt_().add_(eps);
  const double rate = lr / (1 + static_cast<double>(step - 1) * lr_decay);
  return self.add_(with_values(g, values / deviation), -rate);
}

}  // namespace sparse

Tensor& native::_sparse_adam_step_(Tensor& self, const Tensor& grad, Tensor& exp_avg,
                                   Tensor& exp_avg_sq, int64_t step, double lr, double beta1,
                                   double beta2, double eps, bool maximize) {
  TENON_CHECK(grad.layout() != kStrided,
              "SparseAdam does not support dense gradients, please consider Adam instead");
  const Tensor g = ascending(grad, maximize), values = values_of(g);
  if (values.numel() == 0) return self;
  const Tensor places = sparse::indices_of(g);
  const Tensor old_avg = elements_at(exp_avg, places), old_sq = elements_at(exp_avg_sq, places);
  Tensor avg = (values - old_avg) * (1 - beta1), sq = (values * values - old_sq) * (1 - beta2);
  exp_avg.add_(with_values(g, avg));
  exp_avg_sq.add_(with_values(g, sq));
  avg.add_(old_avg);
  sq.add_(old_sq);
  const double correction1 = 1 - std::pow(beta1, static_cast<double>(step));
  const double correction2 = 1 - std::pow(beta2, static_cast<double>(step));
  const Tensor change = avg / sq.sqrt_().add_(eps);
  return self.add_(with_values(g, change), -lr * std::sqrt(correction2) / correction1);
}

}  // namespace tenon

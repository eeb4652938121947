#include "runtime/nn/modules/normalization.h"

#include "aten/core/thread_state.h"
#include "runtime/nn/functional.h"
#include "tenon/ops/batch_norm.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/zeros.h"

namespace tenon::nn {
namespace {

std::optional<Tensor> optional(const Tensor& t) {
  return t.defined() ? std::optional(t) : std::nullopt;
}

}  // namespace

BatchNormImpl::BatchNormImpl(const BatchNormOptions& o) : options(o) {
  const int64_t features = o.num_features();
  if (o.affine()) {
    weight = register_parameter("weight", ones({features}, TensorOptions()));
    bias = register_parameter("bias", zeros({features}, TensorOptions()));
  }
  if (o.track_running_stats()) {
    running_mean = register_buffer("running_mean", zeros({features}, TensorOptions()));
    running_var = register_buffer("running_var", ones({features}, TensorOptions()));
    num_batches_tracked = register_buffer("num_batches_tracked", zeros({}, TensorOptions(kLong)));
  }
}

void BatchNorm1dImpl::check_input(const Tensor& input) const {
  TENON_CHECK_VALUE(input.dim() == 2 || input.dim() == 3,
                    "[BatchNorm1d] expected a 2- or 3-dimensional input, got shape ",
                    input.sizes());
}

void BatchNorm2dImpl::check_input(const Tensor& input) const {
  TENON_CHECK_VALUE(input.dim() == 4, "[BatchNorm2d] expected a 4-dimensional input, got shape ",
                    input.sizes());
}

Tensor BatchNormImpl::forward(const Tensor& input) {
  check_input(input);
  const bool tracked = running_mean.defined();
  const bool by_batch = is_training() || !tracked;
  const bool joined = normalize_batch && is_training();
  TENON_CHECK_VALUE(!by_batch || joined || input.numel() != input.size(1), "[", name(),
                    "] Expected more than 1 value per channel when training, got ", "input size ",
                    input.sizes());
  double average_factor = options.momentum().value_or(0.0);
  if (is_training() && tracked) {
    NoGradGuard no_grad;
    num_batches_tracked.add_(1);
    if (!options.momentum()) average_factor = 1.0 / num_batches_tracked.item<double>();
  }
  if (joined) return normalize_batch(*this, input, average_factor);
  return tenon::batch_norm(input, optional(weight), optional(bias), optional(running_mean),
                           optional(running_var), by_batch, average_factor, options.eps(), false);
}

void BatchNormImpl::pretty_print(std::ostream& out) const {
  out << name() << '(' << options.num_features() << ", eps=" << options.eps() << ", momentum=";
  if (options.momentum()) {
    out << *options.momentum();
  } else {
    out << "None";
  }
  out << ", affine=" << (options.affine() ? "true" : "false")
      << ", track_running_stats=" << (options.track_running_stats() ? "true" : "false") << ')';
}

LayerNormImpl::LayerNormImpl(const LayerNormOptions& options) : options(options) { reset(); }

void LayerNormImpl::reset() {
  if (options.elementwise_affine()) {
    weight = register_parameter("weight", ones(options.normalized_shape(), TensorOptions()));
    bias = register_parameter("bias", zeros(options.normalized_shape(), TensorOptions()));
  }
}

Tensor LayerNormImpl::forward(const Tensor& input) {
  return functional::layer_norm(input, functional::LayerNormFuncOptions(options.normalized_shape())
                                           .weight(weight)
                                           .bias(bias)
                                           .eps(options.eps()));
}

void LayerNormImpl::pretty_print(std::ostream& out) const {
  out << "LayerNorm(" << IntArrayRef(options.normalized_shape()) << ", eps=" << options.eps()
      << ", elementwise_affine=" << (options.elementwise_affine() ? "true" : "false") << ')';
}

}  // namespace tenon::nn

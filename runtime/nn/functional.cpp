#include "runtime/nn/functional.h"

#include "tenon/ops/avg_pool2d.h"
#include "tenon/ops/conv2d.h"
#include "tenon/ops/cross_entropy_loss.h"
#include "tenon/ops/dropout.h"
#include "tenon/ops/embedding.h"
#include "tenon/ops/gelu.h"
#include "tenon/ops/layer_norm.h"
#include "tenon/ops/leaky_relu.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/log_softmax.h"
#include "tenon/ops/max_pool2d.h"
#include "tenon/ops/mse_loss.h"
#include "tenon/ops/nll_loss_nd.h"
#include "tenon/ops/relu.h"
#include "tenon/ops/silu.h"
#include "tenon/ops/softmax.h"

namespace tenon::nn::functional {
namespace {

std::optional<Tensor> optional(const Tensor& t) {
  return t.defined() ? std::optional(t) : std::nullopt;
}

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return tenon::linear(input, weight, optional(bias));
}

Tensor conv2d(const Tensor& input, const Tensor& weight, const Conv2dFuncOptions& options) {
  return tenon::conv2d(input, weight, optional(options.bias()), IntArrayRef(options.stride()),
                       IntArrayRef(options.padding()), IntArrayRef(options.dilation()),
                       options.groups());
}

Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options) {
  return tenon::max_pool2d(input, options.kernel_size(), options.stride(), options.padding(),
                           options.dilation(), options.ceil_mode());
}

Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options) {
  return tenon::avg_pool2d(input, options.kernel_size(), options.stride(), options.padding(),
                           options.ceil_mode(), options.count_include_pad(),
                           options.divisor_override());
}

Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options) {
  return tenon::layer_norm(input, options.normalized_shape(), optional(options.weight()),
                           optional(options.bias()), options.eps());
}

Tensor embedding(const Tensor& input, const Tensor& weight) {
  return tenon::embedding(weight, input);
}

Tensor dropout(const Tensor& input, const DropoutFuncOptions& options) {
  TENON_CHECK_VALUE(options.p() >= 0 && options.p() <= 1, "[dropout] p must be in [0, 1], got ",
                    options.p());
  return tenon::dropout(input, options.p(), options.training());
}

Tensor relu(const Tensor& input, const ReLUFuncOptions& options) {
  return options.inplace() ? Tensor(input).relu_() : tenon::relu(input);
}

Tensor gelu(const Tensor& input, const GELUFuncOptions& options) {
  return tenon::gelu(input, options.approximate());
}
Tensor silu(const Tensor& input) { return tenon::silu(input); }

Tensor leaky_relu(const Tensor& input, const LeakyReLUOptions& options) {
  Tensor self = input;
  return options.inplace() ? tenon::leaky_relu_(self, options.negative_slope())
                           : tenon::leaky_relu(input, options.negative_slope());
}

Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options) {
  return tenon::softmax(input, options.dim());
}

Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options) {
  return tenon::log_softmax(input, options.dim());
}

Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyFuncOptions& options) {
  return tenon::cross_entropy_loss(input, target, optional(options.weight()),
                                   reduction_number(options.reduction()), options.ignore_index(),
                                   options.label_smoothing());
}

Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options) {
  return tenon::nll_loss_nd(input, target, optional(options.weight()),
                            reduction_number(options.reduction()), options.ignore_index());
}

Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options) {
  return tenon::mse_loss(input, target, reduction_number(options.reduction()));
}

}  // namespace tenon::nn::functional

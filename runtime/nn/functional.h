#pragma once

#include "runtime/nn/options.h"

/// The computations of modules as functions, with options where there are many. Shapes: images [N,
/// C, H, W] or [C, H, W], features [..., F].
namespace tenon::nn::functional {

using MaxPool2dFuncOptions = MaxPool2dOptions;
using AvgPool2dFuncOptions = AvgPool2dOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using MSELossFuncOptions = MSELossOptions;
using SoftmaxFuncOptions = SoftmaxOptions;
using LogSoftmaxFuncOptions = SoftmaxOptions;
using GELUFuncOptions = GELUOptions;
using ReLUFuncOptions = ReLUOptions;

class Conv2dFuncOptions {
 public:
  TENON_ARG(Tensor, bias) = {};
  TENON_ARG(ExpandingArray<2>, stride) = 1;
  TENON_ARG(ExpandingArray<2>, padding) = 0;
  TENON_ARG(ExpandingArray<2>, dilation) = 1;
  TENON_ARG(int64_t, groups) = 1;
};

class DropoutFuncOptions {
 public:
  TENON_ARG(double, p) = 0.5;
  TENON_ARG(bool, training) = true;
};

class LayerNormFuncOptions {
 public:
  LayerNormFuncOptions(std::vector<int64_t> normalized_shape)
      : normalized_shape_(std::move(normalized_shape)) {}
  TENON_ARG(std::vector<int64_t>, normalized_shape);
  TENON_ARG(Tensor, weight) = {};
  TENON_ARG(Tensor, bias) = {};
  TENON_ARG(double, eps) = 1e-5;
};

/// input @ weight.T + bias; weight [out, in].
TENON_API Tensor linear(const Tensor& input, const Tensor& weight, const Tensor& bias = {});
TENON_API Tensor conv2d(const Tensor& input, const Tensor& weight,
                        const Conv2dFuncOptions& options = {});
TENON_API Tensor max_pool2d(const Tensor& input, const MaxPool2dFuncOptions& options);
TENON_API Tensor avg_pool2d(const Tensor& input, const AvgPool2dFuncOptions& options);
TENON_API Tensor layer_norm(const Tensor& input, const LayerNormFuncOptions& options);
TENON_API Tensor embedding(const Tensor& input, const Tensor& weight);
/// Zeros each element with probability p and scales the others by 1 / (1 - p), while training.
TENON_API Tensor dropout(const Tensor& input, const DropoutFuncOptions& options = {});

TENON_API Tensor relu(const Tensor& input, const ReLUFuncOptions& options = {});
TENON_API Tensor gelu(const Tensor& input, const GELUFuncOptions& options = {});
TENON_API Tensor silu(const Tensor& input);
TENON_API Tensor leaky_relu(const Tensor& input, const LeakyReLUOptions& options = {});
TENON_API Tensor softmax(const Tensor& input, const SoftmaxFuncOptions& options);
TENON_API Tensor log_softmax(const Tensor& input, const LogSoftmaxFuncOptions& options);

/// -log softmax(input)[target]; input [N, C, ...], target [N, ...] of class numbers, or
/// probabilities like input.
TENON_API Tensor cross_entropy(const Tensor& input, const Tensor& target,
                               const CrossEntropyFuncOptions& options = {});
/// -input[target]; input [N, C, ...] of log probabilities.
TENON_API Tensor nll_loss(const Tensor& input, const Tensor& target,
                          const NLLLossFuncOptions& options = {});
/// (input - target)^2
TENON_API Tensor mse_loss(const Tensor& input, const Tensor& target,
                          const MSELossFuncOptions& options = {});

}  // namespace tenon::nn::functional

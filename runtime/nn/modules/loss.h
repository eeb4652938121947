#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/options.h"

namespace tenon::nn {

/// -log softmax(input)[target]; input [N, C, ...] of scores, target [N, ...] of class numbers.
class TENON_API CrossEntropyLossImpl : public Module {
 public:
  explicit CrossEntropyLossImpl(CrossEntropyLossOptions options = {})
      : options(std::move(options)) {}
  Tensor forward(const Tensor& input, const Tensor& target);

  CrossEntropyLossOptions options;
};
TENON_MODULE(CrossEntropyLoss);

/// -input[target]; input [N, C, ...] of log probabilities.
class TENON_API NLLLossImpl : public Module {
 public:
  explicit NLLLossImpl(NLLLossOptions options = {}) : options(std::move(options)) {}
  Tensor forward(const Tensor& input, const Tensor& target);

  NLLLossOptions options;
};
TENON_MODULE(NLLLoss);

/// (input - target)^2
class TENON_API MSELossImpl : public Module {
 public:
  explicit MSELossImpl(const MSELossOptions& options = {}) : options(options) {}
  Tensor forward(const Tensor& input, const Tensor& target);

  MSELossOptions options;
};
TENON_MODULE(MSELoss);

}  // namespace tenon::nn

#pragma once

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

class SGDOptions {
 public:
  SGDOptions(double lr) : lr_(lr) {}
  TENON_ARG(double, lr);
  TENON_ARG(double, momentum) = 0;
  TENON_ARG(double, dampening) = 0;
  TENON_ARG(double, weight_decay) = 0;
  TENON_ARG(bool, nesterov) = false;
};

/// Stochastic gradient descent, as PyTorch's: d = grad + weight_decay p; with momentum the buffer
/// is b = momentum b + (1 - dampening) d, at the first step d itself, and d becomes b, or d +
/// momentum b with nesterov; p -= lr d.
class TENON_API SGD : public Optimizer {
 public:
  /// ValueError for a negative lr, momentum or weight decay, or nesterov without momentum or with
  /// dampening.
  SGD(std::vector<Tensor> parameters, SGDOptions options);
  /// Read at every step, so that a schedule may change the learning rate between them.
  SGDOptions& options() { return options_; }
  std::vector<std::string> moment_names() const override;
  std::vector<Hyperparameter> hyperparameters() override;

 private:
  void update(const Tensor& p, const Tensor& grad, State& state) override;
  SGDOptions options_;
};

}  // namespace tenon::optim

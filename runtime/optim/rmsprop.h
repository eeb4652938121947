#pragma once

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

class RMSpropOptions {
 public:
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}
  TENON_ARG(double, lr);
  TENON_ARG(double, alpha) = 0.99;
  TENON_ARG(double, eps) = 1e-8;
  TENON_ARG(double, weight_decay) = 0;
  TENON_ARG(double, momentum) = 0;
  TENON_ARG(bool, centered) = false;
  TENON_ARG(bool, maximize) = false;
};

/// Hinton's (2012), as PyTorch's: v = alpha v + (1 - alpha) g^2; d = g / (sqrt(v) + eps), of v
/// minus the square of g's running mean if centered; with momentum b = momentum b + d takes the
/// place of d; p -= lr d. g is grad + weight_decay p, here and below.
class TENON_API RMSprop : public Optimizer {
 public:
  /// ValueError for an option outside of its range.
  explicit RMSprop(std::vector<Tensor> parameters, RMSpropOptions options = {});
  /// Read at every step.
  RMSpropOptions& options() { return options_; }
  std::vector<std::string> moment_names() const override;
  std::vector<Hyperparameter> hyperparameters() override;

 private:
  void update(const Tensor& p, const Tensor& grad, State& state) override;
  RMSpropOptions options_;
};

}  // namespace tenon::optim

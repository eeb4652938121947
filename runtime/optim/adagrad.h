#pragma once

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

class AdagradOptions {
 public:
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}
  TENON_ARG(double, lr);
  TENON_ARG(double, lr_decay) = 0;
  TENON_ARG(double, weight_decay) = 0;
  TENON_ARG(double, initial_accumulator_value) = 0;
  TENON_ARG(double, eps) = 1e-10;
  TENON_ARG(bool, maximize) = false;
};

/// Duchi, Hazan and Singer (2011), as PyTorch's: s += g^2, from initial_accumulator_value on; p -=
/// lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps).
class TENON_API Adagrad : public Optimizer {
 public:
  /// ValueError for an option outside of its range.
  explicit Adagrad(std::vector<Tensor> parameters, AdagradOptions options = {});
  /// Read at every step.
  AdagradOptions& options() { return options_; }
  std::vector<std::string> moment_names() const override;
  std::vector<Hyperparameter> hyperparameters() override;

 private:
  void update(const Tensor& p, const Tensor& grad, State& state) override;
  AdagradOptions options_;
};

}  // namespace tenon::optim

#pragma once

#include <tuple>

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

class RAdamOptions {
 public:
  RAdamOptions(double lr = 1e-3) : lr_(lr) {}
  using Pair = std::tuple<double, double>;
  TENON_ARG(double, lr);
  TENON_ARG(Pair, betas) = {0.9, 0.999};
  TENON_ARG(double, eps) = 1e-8;
  TENON_ARG(double, weight_decay) = 0;
  TENON_ARG(bool, decoupled_weight_decay) = false;
  TENON_ARG(bool, maximize) = false;
};

/// Liu and others (2020), as PyTorch's: Adam whose step is scaled by the variance of its second
/// moment, and without that moment while it is of few steps.
class TENON_API RAdam : public Optimizer {
 public:
  /// ValueError for an option outside of its range.
  explicit RAdam(std::vector<Tensor> parameters, RAdamOptions options = {});
  /// Read at every step.
  RAdamOptions& options() { return options_; }
  std::vector<std::string> moment_names() const override;
  std::vector<Hyperparameter> hyperparameters() override;

 private:
  void update(const Tensor& p, const Tensor& grad, State& state) override;
  RAdamOptions options_;
};

}  // namespace tenon::optim

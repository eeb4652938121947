#pragma once

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

class AdadeltaOptions {
 public:
  AdadeltaOptions(double lr = 1.0) : lr_(lr) {}
  TENON_ARG(double, lr);
  TENON_ARG(double, rho) = 0.9;
  TENON_ARG(double, eps) = 1e-6;
  TENON_ARG(double, weight_decay) = 0;
  TENON_ARG(bool, maximize) = false;
};

/// Zeiler (2012), as PyTorch's: v = rho v + (1 - rho) g^2; d = sqrt(u + eps) / sqrt(v + eps) g; u =
/// rho u + (1 - rho) d^2; p -= lr d.
class TENON_API Adadelta : public Optimizer {
 public:
  /// ValueError for an option outside of its range.
  explicit Adadelta(std::vector<Tensor> parameters, AdadeltaOptions options = {});
  /// Read at every step.
  AdadeltaOptions& options() { return options_; }
  std::vector<std::string> moment_names() const override;
  std::vector<Hyperparameter> hyperparameters() override;

 private:
  void update(const Tensor& p, const Tensor& grad, State& state) override;
  AdadeltaOptions options_;
};

}  // namespace tenon::optim

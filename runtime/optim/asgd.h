#pragma once

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

class ASGDOptions {
 public:
  ASGDOptions(double lr = 1e-2) : lr_(lr) {}
  TENON_ARG(double, lr);
  TENON_ARG(double, lambd) = 1e-4;
  TENON_ARG(double, alpha) = 0.75;
  TENON_ARG(double, t0) = 1e6;
  TENON_ARG(double, weight_decay) = 0;
  TENON_ARG(bool, maximize) = false;
};

/// Polyak and Juditsky (1992), as PyTorch's: p = (1 - lambd eta) p - eta g with eta = lr / (1 +
/// lambd lr t)^alpha. The moment "ax" is the average of p from step t0 on; the state's numbers are
/// eta and the average's weight mu for the next step.
class TENON_API ASGD : public Optimizer {
 public:
  /// ValueError for an option outside of its range.
  explicit ASGD(std::vector<Tensor> parameters, ASGDOptions options = {});
  /// Read at every step.
  ASGDOptions& options() { return options_; }
  std::vector<std::string> moment_names() const override;
  std::vector<std::string> number_names() const override;
  std::vector<Hyperparameter> hyperparameters() override;

 private:
  void update(const Tensor& p, const Tensor& grad, State& state) override;
  ASGDOptions options_;
};

}  // namespace tenon::optim

#pragma once

#include <tuple>

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

class NAdamOptions {
 public:
  NAdamOptions(double lr = 2e-3) : lr_(lr) {}
  using Pair = std::tuple<double, double>;
  TENON_ARG(double, lr);
  TENON_ARG(Pair, betas) = {0.9, 0.999};
  TENON_ARG(double, eps) = 1e-8;
  TENON_ARG(double, weight_decay) = 0;
  TENON_ARG(double, momentum_decay) = 4e-3;
  TENON_ARG(bool, decoupled_weight_decay) = false;
  TENON_ARG(bool, maximize) = false;
};

/// Dozat (2016), Adam with Nesterov's momentum, as PyTorch's: mu_t = beta1 (1 - 0.96^(t
/// momentum_decay) / 2); p -= lr ((1 - mu_t) / (1 - mu_1 ... mu_t) g + mu_(t+1) / (1 - mu_1 ...
/// mu_(t+1)) m) / (sqrt(v / (1 - beta2^t)) + eps). The state's number is mu_1 ... mu_t.
class TENON_API NAdam : public Optimizer {
 public:
  /// ValueError for an option outside of its range.
  explicit NAdam(std::vector<Tensor> parameters, NAdamOptions options = {});
  /// Read at every step.
  NAdamOptions& options() { return options_; }
  std::vector<std::string> moment_names() const override;
  std::vector<std::string> number_names() const override;
  std::vector<Hyperparameter> hyperparameters() override;

 private:
  void update(const Tensor& p, const Tensor& grad, State& state) override;
  NAdamOptions options_;
};

}  // namespace tenon::optim

#pragma once

#include <tuple>

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

class AdamaxOptions {
 public:
  AdamaxOptions(double lr = 2e-3) : lr_(lr) {}
  using Pair = std::tuple<double, double>;
  TENON_ARG(double, lr);
  TENON_ARG(Pair, betas) = {0.9, 0.999};
  TENON_ARG(double, eps) = 1e-8;
  TENON_ARG(double, weight_decay) = 0;
  TENON_ARG(bool, maximize) = false;
};

/// Kingma and Ba, Adam (2015), section 7, as PyTorch's: m = beta1 m + (1 - beta1) g; u = max(beta2
/// u, |g| + eps); p -= lr / (1 - beta1^t) m / u.
class TENON_API Adamax : public Optimizer {
 public:
  /// ValueError for an option outside of its range.
  explicit Adamax(std::vector<Tensor> parameters, AdamaxOptions options = {});
  /// Read at every step.
  AdamaxOptions& options() { return options_; }
  std::vector<std::string> moment_names() const override;
  std::vector<Hyperparameter> hyperparameters() override;

 private:
  void update(const Tensor& p, const Tensor& grad, State& state) override;
  AdamaxOptions options_;
};

}  // namespace tenon::optim

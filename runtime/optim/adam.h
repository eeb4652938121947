#pragma once

#include <tuple>

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

class AdamOptions {
 public:
  AdamOptions(double lr = 1e-3) : lr_(lr) {}
  using Betas = std::tuple<double, double>;
  TENON_ARG(double, lr);
  TENON_ARG(Betas, betas) = {0.9, 0.999};
  TENON_ARG(double, eps) = 1e-8;
  TENON_ARG(double, weight_decay) = 0;
  TENON_ARG(bool, amsgrad) = false;
};

class AdamWOptions {
 public:
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}
  using Betas = std::tuple<double, double>;
  TENON_ARG(double, lr);
  TENON_ARG(Betas, betas) = {0.9, 0.999};
  TENON_ARG(double, eps) = 1e-8;
  TENON_ARG(double, weight_decay) = 1e-2;
  TENON_ARG(bool, amsgrad) = false;
};

/// Kingma and Ba, Adam (2015), as PyTorch's: g = grad + weight_decay p; m = beta1 m + (1 - beta1)
/// g; v = beta2 v + (1 - beta2) g^2; p -= lr / (1 - beta1^t) m / (sqrt(v) / sqrt(1 - beta2^t) +
/// eps). With amsgrad the largest v so far takes the place of v.
class TENON_API Adam : public Optimizer {
 public:
  /// ValueError for a negative lr, eps or weight decay, or a beta outside [0, 1).
  explicit Adam(std::vector<Tensor> parameters, AdamOptions options = {});
  AdamOptions& options() { return options_; }
  std::vector<std::string> moment_names() const override;
  std::vector<Hyperparameter> hyperparameters() override;

 private:
  void update(const Tensor& p, const Tensor& grad, State& state) override;
  AdamOptions options_;
};

/// Loshchilov and Hutter, Decoupled weight decay (2019): p *= 1 - lr weight_decay, then Adam
/// without weight decay.
class TENON_API AdamW : public Optimizer {
 public:
  explicit AdamW(std::vector<Tensor> parameters, AdamWOptions options = {});
  AdamWOptions& options() { return options_; }
  std::vector<std::string> moment_names() const override;
  std::vector<Hyperparameter> hyperparameters() override;

 private:
  void update(const Tensor& p, const Tensor& grad, State& state) override;
  AdamWOptions options_;
};

}  // namespace tenon::optim

#pragma once

#include <tuple>

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

class RpropOptions {
 public:
  RpropOptions(double lr = 1e-2) : lr_(lr) {}
  using Pair = std::tuple<double, double>;
  TENON_ARG(double, lr);
  TENON_ARG(Pair, etas) = {0.5, 1.2};
  TENON_ARG(Pair, step_sizes) = {1e-6, 50};
  TENON_ARG(bool, maximize) = false;
};

/// Riedmiller and Braun (1993), as PyTorch's: each element has a step size of its own, times
/// etas[1] where the gradient keeps its sign and etas[0] where it turns, when the element stays and
/// the gradient counts as 0; p -= sign(g) step_size.
class TENON_API Rprop : public Optimizer {
 public:
  /// ValueError for an option outside of its range.
  explicit Rprop(std::vector<Tensor> parameters, RpropOptions options = {});
  /// Read at every step.
  RpropOptions& options() { return options_; }
  std::vector<std::string> moment_names() const override;
  std::vector<Hyperparameter> hyperparameters() override;

 private:
  void update(const Tensor& p, const Tensor& grad, State& state) override;
  RpropOptions options_;
};

}  // namespace tenon::optim

#pragma once

#include <functional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/nn/arg.h"
#include "tenon/tensor.h"

namespace tenon::optim {

/// A list of parameters that an optimizer treats alike.
class ParamGroup {
 public:
  explicit ParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }

 private:
  std::vector<Tensor> params_;
};

/// Changes parameters by their gradients. step() reads and writes each parameter, its gradient and
/// its state once, in one pass; it records nothing and counts as one in-place change of
/// the parameter.
class TENON_API Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;

  /// ValueError for an empty list, a parameter that is no leaf, or neither floating-point nor
  /// complex, and one that is listed twice.
  explicit Optimizer(std::vector<Tensor> parameters);
  explicit Optimizer(std::vector<ParamGroup> groups);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// With a closure: calls it with gradients enabled, then steps, and returns its loss. Error,
  /// before any parameter changes, if a gradient has not its parameter's shape and device, or if a
  /// parameter has changed its shape, dtype or device since an earlier step.
  Tensor step(const LossClosure& closure = nullptr);
  /// Clears the gradients: none from then on, or zeros if not `set_to_none`.
  void zero_grad(bool set_to_none = true);

  std::vector<ParamGroup>& param_groups() { return groups_; }
  const std::vector<ParamGroup>& param_groups() const { return groups_; }
  /// Number of step() calls that changed parameter `p`.
  int64_t steps_of(const Tensor& p) const;

  /// What is kept per parameter. The tensors have the parameter's shape, dtype and device.
  struct State {
    int64_t step = 0;
    std::vector<Tensor> moments;
    std::vector<double> numbers;  ///< as number_names() says; none before the first step
  };
  /// What is kept of parameter `p`; null before its first step.
  const State* state_of(const Tensor& p) const;
  /// Replaces what is kept of all parameters by copies: one state for each, group by group, empty
  /// for a parameter before its first step. ValueError for another number of them or for moments
  /// that have not the parameter's shape.
  void set_states(const std::vector<State>& states);
  /// PyTorch's names of a state's moments, in their order: "exp_avg", ...
  virtual std::vector<std::string> moment_names() const { return {}; }
  /// PyTorch's names of a state's numbers, in their order: "mu_product", ...
  virtual std::vector<std::string> number_names() const { return {}; }
  /// A number or a flag that steps depend on, under PyTorch's name; "betas.0" for the first of a
  /// tuple.
  struct Hyperparameter {
    std::string name;
    std::variant<double*, bool*> value;
  };
  virtual std::vector<Hyperparameter> hyperparameters() { return {}; }

 protected:
  /// One parameter's change. `grad` has the parameter's shape and device. A complex parameter is
  /// given as pairs of real numbers (view_as_real), with its gradient and state.
  virtual void update(const Tensor& p, const Tensor& grad, State& state) = 0;
  /// State tensor i of zeros like p, made at its first use.
  static Tensor& moment(State& state, size_t i, const Tensor& p);

 private:
  void check() const;
  void check_one(const Tensor& p) const;
  void update_one(const Tensor& p);

  std::vector<ParamGroup> groups_;
  std::unordered_map<const void*, State> state_;
};

}  // namespace tenon::optim

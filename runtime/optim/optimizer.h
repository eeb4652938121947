#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/nn/arg.h"
#include "runtime/optim/fields.h"
#include "tenon/tensor.h"

namespace tenon::serialize {
class InputArchive;
class OutputArchive;
}  // namespace tenon::serialize

namespace tenon::optim {

/// What an optimizer keeps of one parameter. Derive from OptimizerCloneableParamState.
class TENON_API OptimizerParamState {
 public:
  virtual ~OptimizerParamState() = default;
  /// Error unless a subclass defines it.
  virtual std::unique_ptr<OptimizerParamState> clone() const;
  /// Everything that is saved, in PyTorch's order. The pointers live as long as the object. Error
  /// unless a subclass defines it.
  virtual Fields fields();
  /// The fields, those that are undefined left out.
  virtual void serialize(serialize::InputArchive& archive);
  virtual void serialize(serialize::OutputArchive& archive) const;
};

template <class Derived>
class OptimizerCloneableParamState : public OptimizerParamState {
 public:
  std::unique_ptr<OptimizerParamState> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// Hyperparameters of a group of parameters. Derive from OptimizerCloneableOptions.
class TENON_API OptimizerOptions {
 public:
  virtual ~OptimizerOptions() = default;
  /// Error unless a subclass defines it.
  virtual std::unique_ptr<OptimizerOptions> clone() const;
  /// Everything that is saved, in PyTorch's order. The pointers live as long as the object. Error
  /// unless a subclass defines it.
  virtual Fields fields();
  /// The field "lr"; Error without it.
  virtual double get_lr() const;
  virtual void set_lr(double lr);
  virtual void serialize(serialize::InputArchive& archive);
  virtual void serialize(serialize::OutputArchive& archive) const;
};

template <class Derived>
class OptimizerCloneableOptions : public OptimizerOptions {
 public:
  std::unique_ptr<OptimizerOptions> clone() const override {
    return std::make_unique<Derived>(static_cast<const Derived&>(*this));
  }
};

/// Same class and same fields.
TENON_API bool operator==(const OptimizerOptions& a, const OptimizerOptions& b);
TENON_API bool operator==(const OptimizerParamState& a, const OptimizerParamState& b);

/// Parameters that share options. A copy shares the parameters and has options of its own.
class TENON_API OptimizerParamGroup {
 public:
  OptimizerParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  OptimizerParamGroup(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> options)
      : params_(std::move(params)), options_(std::move(options)) {}
  OptimizerParamGroup(const OptimizerParamGroup& other);
  OptimizerParamGroup& operator=(const OptimizerParamGroup& other);
  OptimizerParamGroup(OptimizerParamGroup&&) = default;
  OptimizerParamGroup& operator=(OptimizerParamGroup&&) = default;

  bool has_options() const { return options_ != nullptr; }
  /// Error without options.
  OptimizerOptions& options();
  const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }
  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

/// Changes parameters by their gradients. A subclass overrides update(), with new_state() and
/// start(), or step(). step() records nothing and counts as one in-place change of a parameter.
class TENON_API Optimizer {
 public:
  using LossClosure = std::function<Tensor()>;
  using StepHook = std::function<void(Optimizer&)>;
  using State = std::unordered_map<const void*, std::unique_ptr<OptimizerParamState>>;

  /// A group without options takes `defaults`. Errors: see add_param_group().
  Optimizer(std::vector<OptimizerParamGroup> groups, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults);
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  Optimizer(Optimizer&&) = default;

  /// ValueError for a parameter that is undefined, no leaf, neither floating-point nor complex,
  /// twice in the group, or in a group of this optimizer already.
  void add_param_group(const OptimizerParamGroup& group);
  /// Appends to the first group, unchecked, as libtorch does. This and the next three warn: use
  /// add_param_group() and param_groups().
  void add_parameters(const std::vector<Tensor>& parameters);
  /// Parameters of all groups.
  size_t size() const;
  /// Parameters of the first group.
  std::vector<Tensor>& parameters();
  const std::vector<Tensor>& parameters() const;

  /// With a closure: calls it with gradients enabled, then steps, and returns its loss. Error,
  /// before any parameter changes, if a gradient has not its parameter's shape and device, or if a
  /// parameter has changed its shape, dtype or device since an earlier step.
  virtual Tensor step(LossClosure closure = nullptr);
  /// Clears the gradients: none from then on, or zeros if not `set_to_none`.
  void zero_grad(bool set_to_none = true);

  /// Called before and after each step() of this class's and LBFGS's, in the order of registration.
  /// The result identifies the hook for remove_step_hook().
  size_t register_step_pre_hook(StepHook hook);
  size_t register_step_post_hook(StepHook hook);
  void remove_step_hook(size_t hook);

  OptimizerOptions& defaults() noexcept { return *defaults_; }
  const OptimizerOptions& defaults() const noexcept { return *defaults_; }
  std::vector<OptimizerParamGroup>& param_groups() noexcept { return groups_; }
  const std::vector<OptimizerParamGroup>& param_groups() const noexcept { return groups_; }
  /// What is kept of each parameter, by `parameter.unsafe_impl()`.
  State& state() noexcept { return state_; }
  const State& state() const noexcept { return state_; }

  /// An empty state of this optimizer's class. Files are read into it.
  virtual std::unique_ptr<OptimizerParamState> new_state() const;

  virtual void save(serialize::OutputArchive& archive) const;
  /// Also what libtorch wrote, from PyTorch 1.5 on or before. ValueError for another number of
  /// groups or parameters; the optimizer then stays as it was.
  virtual void load(serialize::InputArchive& archive);

 protected:
  /// Makes the tensors of a state that are undefined and that the options ask for. Whether there
  /// were any.
  virtual bool start(const Tensor& p, OptimizerParamState& state,
                     const OptimizerOptions& options) const;
  /// One parameter's change. `grad` has the parameter's shape and device; `first` is what start()
  /// gave for it.
  virtual void update(const Tensor& p, const Tensor& grad, OptimizerParamState& state,
                      const OptimizerOptions& options, bool first);
  /// Calls the hooks around `step`.
  Tensor with_hooks(const std::function<Tensor()>& step);
  /// Starts the states of all parameters.
  void make_states();
  /// Reads an archive of before PyTorch 1.5, which has no groups.
  virtual void load_old(serialize::InputArchive& archive);
  static void warn_of_old_archive();

 private:
  struct Hook {
    size_t id;
    StepHook call;
  };

  void check_one(const Tensor& p) const;
  OptimizerParamState& state_of(const Tensor& p);

  std::vector<OptimizerParamGroup> groups_;
  State state_;
  std::unique_ptr<OptimizerOptions> defaults_;
  std::vector<Hook> pre_hooks_, post_hooks_;
  size_t next_hook_ = 0;
};

TENON_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                               const Optimizer& optimizer);
TENON_API serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                              Optimizer& optimizer);

}  // namespace tenon::optim

#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "runtime/optim/optimizer.h"

namespace tenon::optim {

class TENON_API LBFGSOptions : public OptimizerCloneableOptions<LBFGSOptions> {
 public:
  LBFGSOptions(double lr = 1) : lr_(lr) {}
  Fields fields() override;
  TENON_ARG(double, lr);
  TENON_ARG(int64_t, max_iter) = 20;
  /// Calls of the closure in one step(); max_iter * 5 / 4 if it is not given.
  TENON_ARG(std::optional<int64_t>, max_eval) = std::nullopt;
  TENON_ARG(double, tolerance_grad) = 1e-7;
  TENON_ARG(double, tolerance_change) = 1e-9;
  TENON_ARG(int64_t, history_size) = 100;
  /// "strong_wolfe", or none: each iteration then goes lr times the direction.
  TENON_ARG(std::optional<std::string>, line_search_fn) = std::nullopt;
};

/// Kept of all parameters together, at the first one. Tensors are flat.
class TENON_API LBFGSParamState : public OptimizerCloneableParamState<LBFGSParamState> {
 public:
  Fields fields() override;
  TENON_ARG(int64_t, func_evals) = 0;
  TENON_ARG(int64_t, n_iter) = 0;
  TENON_ARG(Tensor, d) = {};
  TENON_ARG(double, t) = 0;
  TENON_ARG(std::deque<Tensor>, old_dirs) = {};
  TENON_ARG(std::deque<Tensor>, old_stps) = {};
  TENON_ARG(std::deque<Tensor>, ro) = {};
  TENON_ARG(Tensor, H_diag) = {};
  TENON_ARG(Tensor, prev_flat_grad) = {};
  TENON_ARG(double, prev_loss) = 0;
  TENON_ARG(std::optional<std::vector<Tensor>>, al) = std::nullopt;
};

/// Liu and Nocedal, L-BFGS (1989): up to max_iter quasi-Newton iterations in each step, whose
/// inverse Hessian is known by the last history_size changes of the parameters and of the gradient.
class TENON_API LBFGS : public Optimizer {
 public:
  /// ValueError for more than one group or a negative lr.
  explicit LBFGS(std::vector<OptimizerParamGroup> groups, LBFGSOptions defaults = {});
  explicit LBFGS(std::vector<Tensor> params, LBFGSOptions defaults = {});

  /// The closure clears the gradients, computes the loss and calls backward(); it is called several
  /// times. The loss of its first call. ValueError without a closure.
  Tensor step(LossClosure closure) override;
  std::unique_ptr<OptimizerParamState> new_state() const override;

 protected:
  void load_old(serialize::InputArchive& archive) override;

 private:
  Tensor minimize(const LossClosure& closure);
  void set_direction(LBFGSParamState& state, const Tensor& grad, int64_t history_size);
  Tensor flat_grad() const;
  void move(double t, const Tensor& d);
  void set_params(const std::vector<Tensor>& values);
};

}  // namespace tenon::optim

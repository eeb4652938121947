#include "runtime/optim/schedulers/reduce_on_plateau_scheduler.h"

#include <algorithm>
#include <limits>

namespace tenon::optim {

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(
    Optimizer& optimizer, SchedulerMode mode, double factor, int64_t patience, double threshold,
    ThresholdMode threshold_mode, int64_t cooldown, std::vector<double> min_lr, double eps)
    : optimizer_(optimizer), mode_(mode), factor_(factor), patience_(patience),
      threshold_(threshold), threshold_mode_(threshold_mode), cooldown_(cooldown),
      min_lr_(std::move(min_lr)),
      eps_(eps), state_{std::numeric_limits<double>::infinity() * (mode == min ? 1 : -1)} {
  const size_t groups = optimizer.param_groups().size();
  TENON_CHECK_VALUE(factor < 1, "Factor should be < 1.0.");
  TENON_CHECK_VALUE(min_lr_.size() <= 1 || min_lr_.size() == groups, "expected ", groups,
                    " min_lrs, got ", min_lr_.size());
  if (min_lr_.size() != groups) min_lr_.assign(groups, min_lr_.empty() ? 0 : min_lr_[0]);
}

void ReduceLROnPlateauScheduler::set_state(const State& state) {
  for (const int64_t count : {state.num_bad_epochs, state.cooldown_counter, state.last_epoch})
    TENON_CHECK_VALUE(count >= 0, "[ReduceLROnPlateau] expected a count >= 0, got ", count);
  state_ = state;
}

std::vector<double> ReduceLROnPlateauScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (const OptimizerParamGroup& group : optimizer_.param_groups())
    rates.push_back(group.options().get_lr());
  return rates;
}

void ReduceLROnPlateauScheduler::step(double metric) {
  ++state_.last_epoch;
  if (is_better(metric)) {
    state_.best = metric;
    state_.num_bad_epochs = 0;
  } else {
    ++state_.num_bad_epochs;
  }
  if (state_.cooldown_counter > 0) {
    --state_.cooldown_counter;
    state_.num_bad_epochs = 0;
  }
  if (state_.num_bad_epochs <= patience_) return;
  reduce();
  state_.cooldown_counter = cooldown_;
  state_.num_bad_epochs = 0;
}

bool ReduceLROnPlateauScheduler::is_better(double metric) const {
  const double sign = mode_ == min ? -1 : 1;
  const double bound = threshold_mode_ == rel ? state_.best * (1 + sign * threshold_)
                                              : state_.best + sign * threshold_;
  return mode_ == min ? metric < bound : metric > bound;
}

void ReduceLROnPlateauScheduler::reduce() {
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    const double before = groups[i].options().get_lr();
    // A group that was added later has the least rate 0.
    const double after = std::max(before * factor_, i < min_lr_.size() ? min_lr_[i] : 0.0);
    if (before - after > eps_) groups[i].options().set_lr(after);
  }
}

}  // namespace tenon::optim

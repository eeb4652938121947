#include "runtime/optim/schedulers/reduce_on_plateau_scheduler.h"

#include <algorithm>
#include <limits>

namespace tenon::optim {

ReduceLROnPlateauScheduler::ReduceLROnPlateauScheduler(
    Optimizer& optimizer, SchedulerMode mode, double factor, int64_t patience, double threshold,
    ThresholdMode threshold_mode, int64_t cooldown, std::vector<double> min_lr, double eps)
    : optimizer_(optimizer), mode_(mode), factor_(factor), patience_(patience),
      threshold_(threshold), threshold_mode_(threshold_mode), cooldown_(cooldown),
      min_lr_(std::move(min_lr)), eps_(eps),
      best_(std::numeric_limits<double>::infinity() * (mode == min ? 1 : -1)) {
  const size_t groups = optimizer.param_groups().size();
  TENON_CHECK_VALUE(factor < 1, "Factor should be < 1.0.");
  TENON_CHECK_VALUE(min_lr_.size() <= 1 || min_lr_.size() == groups, "expected ", groups,
                    " min_lrs, got ", min_lr_.size());
  if (min_lr_.size() != groups) min_lr_.assign(groups, min_lr_.empty() ? 0 : min_lr_[0]);
}

void ReduceLROnPlateauScheduler::step(double metric) {
  if (is_better(metric)) {
    best_ = metric;
    bad_epochs_ = 0;
  } else {
    ++bad_epochs_;
  }
  if (cooldown_left_ > 0) {
    --cooldown_left_;
    bad_epochs_ = 0;
  }
  if (bad_epochs_ <= patience_) return;
  reduce();
  cooldown_left_ = cooldown_;
  bad_epochs_ = 0;
}

bool ReduceLROnPlateauScheduler::is_better(double metric) const {
  const double sign = mode_ == min ? -1 : 1;
  const double bound =
      threshold_mode_ == rel ? best_ * (1 + sign * threshold_) : best_ + sign * threshold_;
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

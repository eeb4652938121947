#include "runtime/optim/schedulers/lr_scheduler.h"

#include <limits>
#include <utility>

namespace tenon::optim {
namespace {

std::vector<double> times(std::vector<double> rates, double factor) {
  for (double& rate : rates) rate *= factor;
  return rates;
}

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer)
    : optimizer_(optimizer), base_lrs_(get_current_lrs()) {}

void LRScheduler::step() {
  const std::vector<double> rates = get_lrs();
  std::vector<OptimizerParamGroup>& groups = optimizer_.param_groups();
  TENON_CHECK(rates.size() == groups.size(),
              "Number of learning rates not equal to the number of param groups\n"
              "Number of learning rates given: ",
              rates.size(), "\nNumber of param groups: ", groups.size());
  for (size_t i = 0; i < groups.size(); ++i) groups[i].options().set_lr(rates[i]);
  ++step_count_;
}

LRScheduler::State LRScheduler::state() const {
  return {base_lrs_, first_epoch() + static_cast<int64_t>(step_count_)};
}

void LRScheduler::set_state(State state) {
  const size_t groups = optimizer_.param_groups().size();
  TENON_CHECK_VALUE(state.base_lrs.size() == groups, "[lr_scheduler] expected ", groups,
                    " base_lrs, one for each parameter group, got ", state.base_lrs.size());
  const int64_t steps = state.last_epoch - first_epoch();
  TENON_CHECK_VALUE(steps >= 0 && steps <= std::numeric_limits<unsigned>::max(),
                    "[lr_scheduler] expected last_epoch >= ", first_epoch(), ", got ",
                    state.last_epoch);
  step_count_ = static_cast<unsigned>(steps);
  base_lrs_ = std::move(state.base_lrs);
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (const OptimizerParamGroup& group : optimizer_.param_groups())
    rates.push_back(group.options().get_lr());
  return rates;
}

std::vector<double> LRScheduler::scaled(double factor) const {
  return times(get_current_lrs(), factor);
}

std::vector<double> LRScheduler::base_scaled(double factor) const {
  return times(base_lrs_, factor);
}

}  // namespace tenon::optim

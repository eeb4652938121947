#include "runtime/optim/schedulers/lr_scheduler.h"

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

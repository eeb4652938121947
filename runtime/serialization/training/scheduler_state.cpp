#include "runtime/serialization/training/scheduler_state.h"

#include <typeinfo>
#include <vector>

#include "runtime/optim/schedulers/epoch_schedulers.h"
#include "tenon/ops/item.h"

namespace tenon::serialization {
namespace {

Value list_of(const std::vector<double>& numbers) {
  const Value list = Value::list();
  for (const double number : numbers) list.append(number);
  return list;
}

/// Python's rates may be tensors.
double rate_of(const Value& value) {
  return value.is_tensor() ? value.to_tensor().item<double>() : value.to_double();
}

}  // namespace

Value lr_scheduler_state_dict(const optim::LRScheduler& scheduler) {
  const optim::LRScheduler::State state = scheduler.state();
  Value dict = Value::dict({{"base_lrs", list_of(state.base_lrs)},
                            {"last_epoch", state.last_epoch},
                            {"_step_count", state.last_epoch + 1},
                            {"_last_lr", list_of(scheduler.get_current_lrs())}});
  // Python's LambdaLR expects the key, None for each function.
  if (typeid(scheduler) == typeid(optim::LambdaLR)) {
    const Value functions = Value::list();
    for (size_t i = 0; i < state.base_lrs.size(); ++i) functions.append(Value());
    dict.set_item("lr_lambdas", functions);
  }
  return dict;
}

Value lr_scheduler_state_dict(const optim::ReduceLROnPlateauScheduler& scheduler) {
  const optim::ReduceLROnPlateauScheduler::State& state = scheduler.state();
  return Value::dict({{"best", state.best},
                      {"num_bad_epochs", state.num_bad_epochs},
                      {"cooldown_counter", state.cooldown_counter},
                      {"last_epoch", state.last_epoch},
                      {"_last_lr", list_of(scheduler.get_current_lrs())}});
}

void load_lr_scheduler_state_dict(optim::LRScheduler& scheduler, const Value& state) {
  optim::LRScheduler::State read;
  for (const Value& rate : state.at("base_lrs").items()) read.base_lrs.push_back(rate_of(rate));
  read.last_epoch = state.at("last_epoch").to_int();
  scheduler.set_state(std::move(read));
}

void load_lr_scheduler_state_dict(optim::ReduceLROnPlateauScheduler& scheduler,
                                  const Value& state) {
  scheduler.set_state({rate_of(state.at("best")), state.at("num_bad_epochs").to_int(),
                       state.at("cooldown_counter").to_int(), state.at("last_epoch").to_int()});
}

}  // namespace tenon::serialization

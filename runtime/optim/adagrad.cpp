#include "runtime/optim/adagrad.h"

#include "tenon/ops/_adagrad_step.h"

namespace tenon::optim {

Adagrad::Adagrad(std::vector<Tensor> parameters, AdagradOptions options)
    : Optimizer(std::move(parameters)), options_(options) {
  TENON_CHECK_VALUE(options.lr() >= 0, "[Adagrad] lr must not be negative, got ", options.lr());
  TENON_CHECK_VALUE(options.lr_decay() >= 0, "[Adagrad] lr_decay must not be negative, got ",
                    options.lr_decay());
  TENON_CHECK_VALUE(options.weight_decay() >= 0,
                    "[Adagrad] weight_decay must not be negative, got ", options.weight_decay());
  TENON_CHECK_VALUE(options.initial_accumulator_value() >= 0,
                    "[Adagrad] initial_accumulator_value must not be negative, got ",
                    options.initial_accumulator_value());
  TENON_CHECK_VALUE(options.eps() >= 0, "[Adagrad] eps must not be negative, got ", options.eps());
}

std::vector<std::string> Adagrad::moment_names() const { return {"sum"}; }

std::vector<Optimizer::Hyperparameter> Adagrad::hyperparameters() {
  return {{"lr", &options_.lr()},
          {"lr_decay", &options_.lr_decay()},
          {"weight_decay", &options_.weight_decay()},
          {"initial_accumulator_value", &options_.initial_accumulator_value()},
          {"eps", &options_.eps()},
          {"maximize", &options_.maximize()}};
}

void Adagrad::update(const Tensor& p, const Tensor& grad, State& state) {
  const AdagradOptions& o = options_;
  Tensor target = p;
  if (state.moments.empty()) moment(state, 0, p).fill_(o.initial_accumulator_value());
  _adagrad_step_(target, grad, state.moments[0], state.step, o.lr(), o.eps(), o.lr_decay(),
                 o.weight_decay(), o.maximize());
}

}  // namespace tenon::optim

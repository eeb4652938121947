#include "runtime/optim/radam.h"

#include "tenon/ops/_radam_step.h"

namespace tenon::optim {

RAdam::RAdam(std::vector<Tensor> parameters, RAdamOptions options)
    : Optimizer(std::move(parameters)), options_(options) {
  TENON_CHECK_VALUE(options.lr() >= 0, "[RAdam] lr must not be negative, got ", options.lr());
  TENON_CHECK_VALUE(options.eps() >= 0, "[RAdam] eps must not be negative, got ", options.eps());
  TENON_CHECK_VALUE(options.weight_decay() >= 0, "[RAdam] weight_decay must not be negative, got ",
                    options.weight_decay());
  const auto [beta1, beta2] = options.betas();
  TENON_CHECK_VALUE(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1,
                    "[RAdam] betas must be in [0, 1), got ", beta1, " and ", beta2);
}

std::vector<std::string> RAdam::moment_names() const { return {"exp_avg", "exp_avg_sq"}; }

std::vector<Optimizer::Hyperparameter> RAdam::hyperparameters() {
  return {{"lr", &options_.lr()},
          {"betas.0", &std::get<0>(options_.betas())},
          {"betas.1", &std::get<1>(options_.betas())},
          {"eps", &options_.eps()},
          {"weight_decay", &options_.weight_decay()},
          {"decoupled_weight_decay", &options_.decoupled_weight_decay()},
          {"maximize", &options_.maximize()}};
}

void RAdam::update(const Tensor& p, const Tensor& grad, State& state) {
  const RAdamOptions& o = options_;
  Tensor target = p;
  moment(state, 1, p);
  const auto [beta1, beta2] = o.betas();
  _radam_step_(target, grad, state.moments[0], state.moments[1], state.step, o.lr(), beta1, beta2,
               o.eps(), o.weight_decay(), o.decoupled_weight_decay(), o.maximize());
}

}  // namespace tenon::optim

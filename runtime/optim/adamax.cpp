#include "runtime/optim/adamax.h"

#include "tenon/ops/_adamax_step.h"

namespace tenon::optim {

Adamax::Adamax(std::vector<Tensor> parameters, AdamaxOptions options)
    : Optimizer(std::move(parameters)), options_(options) {
  TENON_CHECK_VALUE(options.lr() >= 0, "[Adamax] lr must not be negative, got ", options.lr());
  TENON_CHECK_VALUE(options.eps() >= 0, "[Adamax] eps must not be negative, got ", options.eps());
  TENON_CHECK_VALUE(options.weight_decay() >= 0, "[Adamax] weight_decay must not be negative, got ",
                    options.weight_decay());
  const auto [beta1, beta2] = options.betas();
  TENON_CHECK_VALUE(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1,
                    "[Adamax] betas must be in [0, 1), got ", beta1, " and ", beta2);
}

std::vector<std::string> Adamax::moment_names() const { return {"exp_avg", "exp_inf"}; }

std::vector<Optimizer::Hyperparameter> Adamax::hyperparameters() {
  return {{"lr", &options_.lr()},
          {"betas.0", &std::get<0>(options_.betas())},
          {"betas.1", &std::get<1>(options_.betas())},
          {"eps", &options_.eps()},
          {"weight_decay", &options_.weight_decay()},
          {"maximize", &options_.maximize()}};
}

void Adamax::update(const Tensor& p, const Tensor& grad, State& state) {
  const AdamaxOptions& o = options_;
  Tensor target = p;
  moment(state, 1, p);
  const auto [beta1, beta2] = o.betas();
  _adamax_step_(target, grad, state.moments[0], state.moments[1], state.step, o.lr(), beta1, beta2,
                o.eps(), o.weight_decay(), o.maximize());
}

}  // namespace tenon::optim

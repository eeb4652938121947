#include "runtime/optim/nadam.h"

#include <cmath>

#include "tenon/ops/_nadam_step.h"

namespace tenon::optim {

NAdam::NAdam(std::vector<Tensor> parameters, NAdamOptions options)
    : Optimizer(std::move(parameters)), options_(options) {
  TENON_CHECK_VALUE(options.lr() >= 0, "[NAdam] lr must not be negative, got ", options.lr());
  TENON_CHECK_VALUE(options.eps() >= 0, "[NAdam] eps must not be negative, got ", options.eps());
  TENON_CHECK_VALUE(options.weight_decay() >= 0, "[NAdam] weight_decay must not be negative, got ",
                    options.weight_decay());
  TENON_CHECK_VALUE(options.momentum_decay() >= 0,
                    "[NAdam] momentum_decay must not be negative, got ", options.momentum_decay());
  const auto [beta1, beta2] = options.betas();
  TENON_CHECK_VALUE(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1,
                    "[NAdam] betas must be in [0, 1), got ", beta1, " and ", beta2);
}

std::vector<std::string> NAdam::moment_names() const { return {"exp_avg", "exp_avg_sq"}; }

std::vector<std::string> NAdam::number_names() const { return {"mu_product"}; }

std::vector<Optimizer::Hyperparameter> NAdam::hyperparameters() {
  return {{"lr", &options_.lr()},
          {"betas.0", &std::get<0>(options_.betas())},
          {"betas.1", &std::get<1>(options_.betas())},
          {"eps", &options_.eps()},
          {"weight_decay", &options_.weight_decay()},
          {"momentum_decay", &options_.momentum_decay()},
          {"decoupled_weight_decay", &options_.decoupled_weight_decay()},
          {"maximize", &options_.maximize()}};
}

void NAdam::update(const Tensor& p, const Tensor& grad, State& state) {
  const NAdamOptions& o = options_;
  Tensor target = p;
  moment(state, 1, p);
  if (state.numbers.empty()) state.numbers = {1.0};
  const auto [beta1, beta2] = o.betas();
  const auto mu_of = [&, beta1 = beta1](int64_t t) {
    return beta1 * (1 - 0.5 * std::pow(0.96, static_cast<double>(t) * o.momentum_decay()));
  };
  const double mu = mu_of(state.step);
  state.numbers[0] *= mu;
  _nadam_step_(target, grad, state.moments[0], state.moments[1], state.step, mu,
               mu_of(state.step + 1), state.numbers[0], o.lr(), beta1, beta2, o.eps(),
               o.weight_decay(), o.decoupled_weight_decay(), o.maximize());
}

}  // namespace tenon::optim

#include "runtime/optim/asgd.h"

#include <algorithm>
#include <cmath>

#include "tenon/ops/_asgd_step.h"

namespace tenon::optim {

ASGD::ASGD(std::vector<Tensor> parameters, ASGDOptions options)
    : Optimizer(std::move(parameters)), options_(options) {
  TENON_CHECK_VALUE(options.lr() >= 0, "[ASGD] lr must not be negative, got ", options.lr());
  TENON_CHECK_VALUE(options.lambd() >= 0, "[ASGD] lambd must not be negative, got ",
                    options.lambd());
  TENON_CHECK_VALUE(options.alpha() >= 0, "[ASGD] alpha must not be negative, got ",
                    options.alpha());
  TENON_CHECK_VALUE(options.weight_decay() >= 0, "[ASGD] weight_decay must not be negative, got ",
                    options.weight_decay());
}

std::vector<std::string> ASGD::moment_names() const { return {"ax"}; }

std::vector<std::string> ASGD::number_names() const { return {"eta", "mu"}; }

std::vector<Optimizer::Hyperparameter> ASGD::hyperparameters() {
  return {{"lr", &options_.lr()},
          {"lambd", &options_.lambd()},
          {"alpha", &options_.alpha()},
          {"t0", &options_.t0()},
          {"weight_decay", &options_.weight_decay()},
          {"maximize", &options_.maximize()}};
}

void ASGD::update(const Tensor& p, const Tensor& grad, State& state) {
  const ASGDOptions& o = options_;
  Tensor target = p;
  if (state.numbers.empty()) state.numbers = {o.lr(), 1.0};
  double& eta = state.numbers[0];
  double& mu = state.numbers[1];
  _asgd_step_(target, grad, moment(state, 0, p), eta, mu, o.lambd(), o.weight_decay(),
              o.maximize());
  const auto step = static_cast<double>(state.step);
  eta = o.lr() / std::pow(1 + o.lambd() * o.lr() * step, o.alpha());
  mu = 1 / std::max(1.0, step - o.t0());
}

}  // namespace tenon::optim

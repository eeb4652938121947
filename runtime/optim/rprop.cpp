#include "runtime/optim/rprop.h"

#include "tenon/ops/_rprop_step.h"

namespace tenon::optim {

Rprop::Rprop(std::vector<Tensor> parameters, RpropOptions options)
    : Optimizer(std::move(parameters)), options_(options) {
  TENON_CHECK_VALUE(options.lr() >= 0, "[Rprop] lr must not be negative, got ", options.lr());
  const auto [minus, plus] = options.etas();
  TENON_CHECK_VALUE(0 < minus && minus < 1 && 1 < plus,
                    "[Rprop] etas must be below and above 1, got ", minus, " and ", plus);
}

std::vector<std::string> Rprop::moment_names() const { return {"prev", "step_size"}; }

std::vector<Optimizer::Hyperparameter> Rprop::hyperparameters() {
  return {{"lr", &options_.lr()},
          {"etas.0", &std::get<0>(options_.etas())},
          {"etas.1", &std::get<1>(options_.etas())},
          {"step_sizes.0", &std::get<0>(options_.step_sizes())},
          {"step_sizes.1", &std::get<1>(options_.step_sizes())},
          {"maximize", &options_.maximize()}};
}

void Rprop::update(const Tensor& p, const Tensor& grad, State& state) {
  const RpropOptions& o = options_;
  Tensor target = p;
  if (state.moments.empty()) moment(state, 1, p).fill_(o.lr());
  const auto [minus, plus] = o.etas();
  const auto [least, most] = o.step_sizes();
  _rprop_step_(target, grad, state.moments[0], state.moments[1], minus, plus, least, most,
               o.maximize());
}

}  // namespace tenon::optim

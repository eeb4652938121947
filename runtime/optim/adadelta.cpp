#include "runtime/optim/adadelta.h"

#include "tenon/ops/_adadelta_step.h"

namespace tenon::optim {

Adadelta::Adadelta(std::vector<Tensor> parameters, AdadeltaOptions options)
    : Optimizer(std::move(parameters)), options_(options) {
  TENON_CHECK_VALUE(options.lr() >= 0, "[Adadelta] lr must not be negative, got ", options.lr());
  TENON_CHECK_VALUE(options.eps() >= 0, "[Adadelta] eps must not be negative, got ", options.eps());
  TENON_CHECK_VALUE(options.weight_decay() >= 0,
                    "[Adadelta] weight_decay must not be negative, got ", options.weight_decay());
  TENON_CHECK_VALUE(options.rho() >= 0 && options.rho() <= 1,
                    "[Adadelta] rho must be in [0, 1], got ", options.rho());
}

std::vector<std::string> Adadelta::moment_names() const { return {"square_avg", "acc_delta"}; }

std::vector<Optimizer::Hyperparameter> Adadelta::hyperparameters() {
  return {{"lr", &options_.lr()},
          {"rho", &options_.rho()},
          {"eps", &options_.eps()},
          {"weight_decay", &options_.weight_decay()},
          {"maximize", &options_.maximize()}};
}

void Adadelta::update(const Tensor& p, const Tensor& grad, State& state) {
  const AdadeltaOptions& o = options_;
  Tensor target = p;
  moment(state, 1, p);
  _adadelta_step_(target, grad, state.moments[0], state.moments[1], o.lr(), o.rho(), o.eps(),
                  o.weight_decay(), o.maximize());
}

}  // namespace tenon::optim

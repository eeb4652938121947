#include "runtime/optim/sgd.h"

#include "tenon/ops/sgd_step.h"

namespace tenon::optim {

SGD::SGD(std::vector<Tensor> parameters, SGDOptions options)
    : Optimizer(std::move(parameters)), options_(options) {
  TENON_CHECK_VALUE(options.lr() >= 0, "[SGD] lr must not be negative, got ", options.lr());
  TENON_CHECK_VALUE(options.momentum() >= 0, "[SGD] momentum must not be negative, got ",
                    options.momentum());
  TENON_CHECK_VALUE(options.weight_decay() >= 0, "[SGD] weight_decay must not be negative, got ",
                    options.weight_decay());
  TENON_CHECK_VALUE(!options.nesterov() || (options.momentum() > 0 && options.dampening() == 0),
                    "[SGD] nesterov requires a momentum and zero dampening, got momentum ",
                    options.momentum(), " and dampening ", options.dampening());
}

std::vector<std::string> SGD::moment_names() const { return {"momentum_buffer"}; }

std::vector<Optimizer::Hyperparameter> SGD::hyperparameters() {
  return {{"lr", &options_.lr()},
          {"momentum", &options_.momentum()},
          {"dampening", &options_.dampening()},
          {"weight_decay", &options_.weight_decay()},
          {"nesterov", &options_.nesterov()}};
}

void SGD::update(const Tensor& p, const Tensor& grad, State& state) {
  const std::optional<Tensor> buffer =
      options_.momentum() != 0 ? std::optional<Tensor>(moment(state, 0, p)) : std::nullopt;
  Tensor target = p;
  sgd_step_(target, grad, buffer, options_.lr(), options_.momentum(), options_.dampening(),
            options_.weight_decay(), options_.nesterov(), false, state.step == 1);
}

}  // namespace tenon::optim

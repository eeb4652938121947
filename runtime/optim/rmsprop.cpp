#include "runtime/optim/rmsprop.h"

#include "tenon/ops/_rmsprop_step.h"

namespace tenon::optim {

RMSprop::RMSprop(std::vector<Tensor> parameters, RMSpropOptions options)
    : Optimizer(std::move(parameters)), options_(options) {
  TENON_CHECK_VALUE(options.lr() >= 0, "[RMSprop] lr must not be negative, got ", options.lr());
  TENON_CHECK_VALUE(options.alpha() >= 0, "[RMSprop] alpha must not be negative, got ",
                    options.alpha());
  TENON_CHECK_VALUE(options.eps() >= 0, "[RMSprop] eps must not be negative, got ", options.eps());
  TENON_CHECK_VALUE(options.weight_decay() >= 0,
                    "[RMSprop] weight_decay must not be negative, got ", options.weight_decay());
  TENON_CHECK_VALUE(options.momentum() >= 0, "[RMSprop] momentum must not be negative, got ",
                    options.momentum());
}

std::vector<std::string> RMSprop::moment_names() const {
  std::vector<std::string> names{"square_avg"};
  if (options_.momentum() > 0) names.push_back("momentum_buffer");
  if (options_.centered()) names.push_back("grad_avg");
  return names;
}

std::vector<Optimizer::Hyperparameter> RMSprop::hyperparameters() {
  return {{"lr", &options_.lr()},
          {"alpha", &options_.alpha()},
          {"eps", &options_.eps()},
          {"weight_decay", &options_.weight_decay()},
          {"momentum", &options_.momentum()},
          {"centered", &options_.centered()},
          {"maximize", &options_.maximize()}};
}

void RMSprop::update(const Tensor& p, const Tensor& grad, State& state) {
  const RMSpropOptions& o = options_;
  Tensor target = p;
  std::optional<Tensor> buffer, mean;
  size_t last = 0;
  if (o.momentum() > 0) buffer = moment(state, ++last, p);
  if (o.centered()) mean = moment(state, ++last, p);
  _rmsprop_step_(target, grad, moment(state, 0, p), buffer, mean, o.lr(), o.alpha(), o.eps(),
                 o.weight_decay(), o.momentum(), o.maximize());
}

}  // namespace tenon::optim

#include "runtime/optim/adam.h"

#include "tenon/ops/adam_step.h"

namespace tenon::optim {
namespace {

template <class Options>
void check_options(const char* name, const Options& o) {
  const auto [beta1, beta2] = o.betas();
  TENON_CHECK_VALUE(o.lr() >= 0, "[", name, "] lr must not be negative, got ", o.lr());
  TENON_CHECK_VALUE(o.eps() >= 0, "[", name, "] eps must not be negative, got ", o.eps());
  TENON_CHECK_VALUE(o.weight_decay() >= 0, "[", name, "] weight_decay must not be negative, got ",
                    o.weight_decay());
  TENON_CHECK_VALUE(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1, "[", name,
                    "] betas must be in [0, 1), got ", beta1, " and ", beta2);
}

const std::vector<std::string> kMoments{"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};

template <class Options>
std::vector<Optimizer::Hyperparameter> hyperparameters_of(Options& o) {
  return {
      {"lr", &o.lr()},   {"betas.0", &std::get<0>(o.betas())}, {"betas.1", &std::get<1>(o.betas())},
      {"eps", &o.eps()}, {"weight_decay", &o.weight_decay()},  {"amsgrad", &o.amsgrad()}};
}

/// The moments are exp_avg, exp_avg_sq and, with amsgrad, max_exp_avg_sq.
template <class Options>
void adam(Tensor p, const Tensor& grad, Optimizer::State& state, const Options& o, bool decoupled) {
  const auto [beta1, beta2] = o.betas();
  std::vector<Tensor>& moments = state.moments;
  const std::optional<Tensor> largest =
      o.amsgrad() ? std::optional<Tensor>(moments[2]) : std::nullopt;
  adam_step_(p, grad, moments[0], moments[1], largest, state.step, o.lr(), beta1, beta2, o.eps(),
             o.weight_decay(), decoupled);
}

}  // namespace

Adam::Adam(std::vector<Tensor> parameters, AdamOptions options)
    : Optimizer(std::move(parameters)), options_(options) {
  check_options("Adam", options_);
}

std::vector<std::string> Adam::moment_names() const { return kMoments; }

std::vector<Optimizer::Hyperparameter> Adam::hyperparameters() {
  return hyperparameters_of(options_);
}

void Adam::update(const Tensor& p, const Tensor& grad, State& state) {
  moment(state, options_.amsgrad() ? 2 : 1, p);
  adam(p, grad, state, options_, false);
}

AdamW::AdamW(std::vector<Tensor> parameters, AdamWOptions options)
    : Optimizer(std::move(parameters)), options_(options) {
  check_options("AdamW", options_);
}

std::vector<std::string> AdamW::moment_names() const { return kMoments; }

std::vector<Optimizer::Hyperparameter> AdamW::hyperparameters() {
  return hyperparameters_of(options_);
}

void AdamW::update(const Tensor& p, const Tensor& grad, State& state) {
  moment(state, options_.amsgrad() ? 2 : 1, p);
  adam(p, grad, state, options_, true);
}

}  // namespace tenon::optim

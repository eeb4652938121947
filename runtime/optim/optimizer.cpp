#include "runtime/optim/optimizer.h"

#include "aten/core/thread_state.h"
#include "tenon/ops/empty_like.h"
#include "tenon/ops/view_as_complex.h"
#include "tenon/ops/view_as_real.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::optim {
namespace {

std::vector<ParamGroup> one_group(std::vector<Tensor> parameters) {
  std::vector<ParamGroup> groups;
  groups.emplace_back(std::move(parameters));
  return groups;
}

}  // namespace

Optimizer::Optimizer(std::vector<Tensor> parameters)
    : Optimizer(one_group(std::move(parameters))) {}

Optimizer::Optimizer(std::vector<ParamGroup> groups) : groups_(std::move(groups)) { check(); }

void Optimizer::check() const {
  size_t count = 0;
  std::unordered_map<const void*, size_t> places;
  for (const ParamGroup& group : groups_) {
    for (const Tensor& p : group.params()) {
      TENON_CHECK_VALUE(p.defined(), "[optim] parameter ", count, " is undefined");
      TENON_CHECK_VALUE(p.is_leaf(), "[optim] can't optimize a non-leaf Tensor: parameter ", count,
                        " of shape ", p.sizes());
      TENON_CHECK_VALUE(p.is_floating_point() || p.is_complex(),
                        "[optim] parameters must be of a floating-point or complex type, got ",
                        p.dtype(), " for parameter ", count);
      const auto [place, is_new] = places.emplace(p.unsafe_impl(), count);
      TENON_CHECK_VALUE(is_new, "[optim] a parameter must be listed once, got parameter ",
                        place->second, " of shape ", p.sizes(), " again as parameter ", count);
      ++count;
    }
  }
  TENON_CHECK_VALUE(count > 0, "[optim] optimizer got an empty parameter list");
}

Tensor Optimizer::step(const LossClosure& closure) {
  Tensor loss;
  if (closure) {
    AutoGradMode enabled(true);
    loss = closure();
  }
  NoGradGuard no_grad;
  // All of them before the first one changes.
  for (const ParamGroup& group : groups_)
    for (const Tensor& p : group.params()) check_one(p);
  for (ParamGroup& group : groups_)
    for (const Tensor& p : group.params()) update_one(p);
  return loss;
}

void Optimizer::check_one(const Tensor& p) const {
  const Tensor grad = p.grad();
  if (!grad.defined()) return;
  TENON_CHECK(grad.sizes() == p.sizes() && grad.device() == p.device(),
              "[optim] the gradient must have the parameter's shape and device, got ", grad.sizes(),
              " on ", grad.device(), " for ", p.sizes(), " on ", p.device());
  TENON_CHECK(
      grad.is_complex() == p.is_complex(),
      "[optim] the gradient of a complex parameter must be complex, of a real one real, got ",
      grad.dtype(), " for ", p.dtype());
  const State* state = state_of(p);
  if (!state) return;
  for (const Tensor& m : state->moments) {
    TENON_CHECK(m.sizes() == p.sizes() && m.dtype() == p.dtype() && m.device() == p.device(),
                "[optim] what is kept of a parameter must have its shape, dtype and device, got ",
                m.sizes(), " of ", m.dtype(), " on ", m.device(), " for ", p.sizes(), " of ",
                p.dtype(), " on ", p.device(),
                ". The parameter has changed since an earlier step: make a new optimizer after "
                "the change, or give this one states that fit");
  }
}

void Optimizer::update_one(const Tensor& p) {
  const Tensor grad = p.grad();
  if (!grad.defined()) return;
  State& state = state_[p.unsafe_impl()];
  ++state.step;
  if (!p.is_complex()) return update(p, grad, state);
  State parts = state;
  for (Tensor& moment : parts.moments) moment = view_as_real(moment);
  update(view_as_real(p), view_as_real(grad), parts);
  for (Tensor& moment : parts.moments) moment = view_as_complex(moment);
  state = std::move(parts);
}

Tensor& Optimizer::moment(State& state, size_t i, const Tensor& p) {
  while (state.moments.size() <= i) state.moments.push_back(zeros_like(p));
  return state.moments[i];
}

void Optimizer::zero_grad(bool set_to_none) {
  for (ParamGroup& group : groups_) {
    for (Tensor& p : group.params()) {
      Tensor& grad = p.mutable_grad();
      if (!grad.defined()) continue;
      if (set_to_none) {
        grad.reset();
      } else {
        grad = grad.detach();
        grad.zero_();
      }
    }
  }
}

int64_t Optimizer::steps_of(const Tensor& p) const {
  const auto it = state_.find(p.unsafe_impl());
  return it == state_.end() ? 0 : it->second.step;
}

const Optimizer::State* Optimizer::state_of(const Tensor& p) const {
  const auto it = state_.find(p.unsafe_impl());
  return it == state_.end() ? nullptr : &it->second;
}

void Optimizer::set_states(const std::vector<State>& states) {
  std::vector<Tensor> params;
  for (const ParamGroup& group : groups_)
    params.insert(params.end(), group.params().begin(), group.params().end());
  TENON_CHECK_VALUE(states.size() == params.size(), "[optim] expected the states of ",
                    params.size(), " parameters, got ", states.size());
  NoGradGuard no_grad;
  std::unordered_map<const void*, State> copies;
  for (size_t i = 0; i < params.size(); ++i) {
    if (states[i].step == 0 && states[i].moments.empty()) continue;
    State& copy = copies[params[i].unsafe_impl()];
    copy.step = states[i].step;
    copy.numbers = states[i].numbers;
    for (const Tensor& m : states[i].moments) {
      TENON_CHECK_VALUE(m.sizes() == params[i].sizes(), "[optim] the state of parameter ", i,
                        " has shape ", m.sizes(), ", expected ", params[i].sizes());
      copy.moments.push_back(empty_like(params[i]));
      copy.moments.back().copy_(m);
    }
  }
  state_ = std::move(copies);
}

}  // namespace tenon::optim

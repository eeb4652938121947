#include "runtime/optim/optimizer.h"

#include <algorithm>
#include <typeinfo>
#include <unordered_set>

#include "aten/core/thread_state.h"
#include "aten/dispatch/warning.h"

namespace tenon::optim {
namespace {

std::vector<OptimizerParamGroup> one_group(std::vector<Tensor> parameters) {
  std::vector<OptimizerParamGroup> groups;
  groups.emplace_back(std::move(parameters));
  return groups;
}

[[noreturn]] void not_defined(const char* what, const std::type_info& type, const char* base) {
  throw NotImplementedError(std::string(what) + " has not been implemented for " + type.name() +
                            ": derive from " + base + " and override it");
}

double* lr_of(OptimizerOptions& options) {
  for (const Field& field : options.fields()) {
    if (field.name != "lr") continue;
    if (auto* const* lr = std::get_if<double*>(&field.value)) return *lr;
  }
  not_defined("get_lr()", typeid(options), "OptimizerCloneableOptions");
}

/// Fields do not change the object; what is read through them may.
template <class Object>
Fields fields_of(const Object& object) {
  return const_cast<Object&>(object).fields();
}

template <class Object>
bool same_object(const Object& a, const Object& b) {
  return typeid(a) == typeid(b) && equal(fields_of(a), fields_of(b));
}

}  // namespace

std::unique_ptr<OptimizerParamState> OptimizerParamState::clone() const {
  not_defined("clone()", typeid(*this), "OptimizerCloneableParamState");
}

Fields OptimizerParamState::fields() {
  not_defined("fields()", typeid(*this), "OptimizerCloneableParamState");
}

std::unique_ptr<OptimizerOptions> OptimizerOptions::clone() const {
  not_defined("clone()", typeid(*this), "OptimizerCloneableOptions");
}

Fields OptimizerOptions::fields() {
  not_defined("fields()", typeid(*this), "OptimizerCloneableOptions");
}

double OptimizerOptions::get_lr() const { return *lr_of(const_cast<OptimizerOptions&>(*this)); }

void OptimizerOptions::set_lr(double lr) { *lr_of(*this) = lr; }

bool operator==(const OptimizerOptions& a, const OptimizerOptions& b) { return same_object(a, b); }

bool operator==(const OptimizerParamState& a, const OptimizerParamState& b) {
  return same_object(a, b);
}

OptimizerParamGroup::OptimizerParamGroup(const OptimizerParamGroup& other)
    : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr) {}

OptimizerParamGroup& OptimizerParamGroup::operator=(const OptimizerParamGroup& other) {
  return *this = OptimizerParamGroup(other);
}

OptimizerOptions& OptimizerParamGroup::options() {
  TENON_CHECK(has_options(), "[optim] this group of parameters has no options");
  return *options_;
}

const OptimizerOptions& OptimizerParamGroup::options() const {
  return const_cast<OptimizerParamGroup&>(*this).options();
}

Optimizer::Optimizer(std::vector<OptimizerParamGroup> groups,
                     std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)) {
  for (const OptimizerParamGroup& group : groups) add_param_group(group);
}

Optimizer::Optimizer(std::vector<Tensor> parameters, std::unique_ptr<OptimizerOptions> defaults)
    : Optimizer(one_group(std::move(parameters)), std::move(defaults)) {}

void Optimizer::add_param_group(const OptimizerParamGroup& group) {
  size_t place = 0;
  std::unordered_set<const void*> mine, others;
  for (const OptimizerParamGroup& other : groups_)
    for (const Tensor& p : other.params()) others.insert(p.unsafe_impl());
  for (const Tensor& p : group.params()) {
    TENON_CHECK_VALUE(p.defined(), "[optim] parameter ", place, " is undefined");
    TENON_CHECK_VALUE(p.is_leaf(), "can't optimize a non-leaf Tensor: parameter ", place,
                      " of shape ", p.sizes());
    TENON_CHECK_VALUE(p.is_floating_point() || p.is_complex(),
                      "[optim] parameters must be of a floating-point or complex type, got ",
                      p.dtype(), " for parameter ", place);
    TENON_CHECK_VALUE(!others.contains(p.unsafe_impl()),
                      "some parameters appear in more than one parameter group");
    TENON_CHECK_VALUE(mine.insert(p.unsafe_impl()).second,
                      "optimizer contains a parameter group with duplicate parameters: parameter ",
                      place, " of shape ", p.sizes(), " is listed before");
    ++place;
  }
  OptimizerParamGroup added(group);
  if (!added.has_options()) {
    TENON_CHECK(defaults_, "[optim] a group without options needs an optimizer with defaults");
    added.set_options(defaults_->clone());
  }
  groups_.push_back(std::move(added));
}

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  TENON_WARN("Optimizer::add_parameters() will be removed: use add_param_group()");
  std::vector<Tensor>& first = groups_.at(0).params();
  first.insert(first.end(), parameters.begin(), parameters.end());
}

std::vector<Tensor>& Optimizer::parameters() {
  TENON_WARN("Optimizer::parameters() will be removed: use param_groups()");
  return groups_.at(0).params();
}

const std::vector<Tensor>& Optimizer::parameters() const {
  return const_cast<Optimizer&>(*this).parameters();
}

size_t Optimizer::size() const {
  TENON_WARN("Optimizer::size() will be removed: use param_groups()");
  size_t count = 0;
  for (const OptimizerParamGroup& group : groups_) count += group.params().size();
  return count;
}

size_t Optimizer::register_step_pre_hook(StepHook hook) {
  pre_hooks_.push_back({next_hook_, std::move(hook)});
  return next_hook_++;
}

size_t Optimizer::register_step_post_hook(StepHook hook) {
  post_hooks_.push_back({next_hook_, std::move(hook)});
  return next_hook_++;
}

void Optimizer::remove_step_hook(size_t hook) {
  const auto is_it = [&](const Hook& one) { return one.id == hook; };
  std::erase_if(pre_hooks_, is_it);
  std::erase_if(post_hooks_, is_it);
}

Tensor Optimizer::with_hooks(const std::function<Tensor()>& step) {
  // Copies: a hook may remove itself.
  for (const Hook& hook : std::vector<Hook>(pre_hooks_)) hook.call(*this);
  Tensor loss = step();
  for (const Hook& hook : std::vector<Hook>(post_hooks_)) hook.call(*this);
  return loss;
}

Tensor Optimizer::step(LossClosure closure) {
  return with_hooks([&] {
    Tensor loss;
    if (closure) {
      AutoGradMode enabled(true);
      loss = closure();
    }
    NoGradGuard no_grad;
    // All of them before the first one changes.
    for (const OptimizerParamGroup& group : groups_)
      for (const Tensor& p : group.params()) check_one(p);
    for (const OptimizerParamGroup& group : groups_) {
      for (const Tensor& p : group.params()) {
        const Tensor grad = p.grad();
        if (!grad.defined()) continue;
        OptimizerParamState& state = state_of(p);
        const bool first = start(p, state, group.options());
        update(p, grad, state, group.options(), first);
      }
    }
    return loss;
  });
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
  const auto found = state_.find(p.unsafe_impl());
  if (found == state_.end()) return;
  for (const Field& field : found->second->fields()) {
    if (field.kind != Field::Kind::kMoment) continue;
    const Tensor& m = *std::get<Tensor*>(field.value);
    if (!m.defined()) continue;
    TENON_CHECK(m.sizes() == p.sizes() && m.dtype() == p.dtype() && m.device() == p.device(),
                "[optim] what is kept of a parameter must have its shape, dtype and device, got ",
                m.sizes(), " of ", m.dtype(), " on ", m.device(), " for ", p.sizes(), " of ",
                p.dtype(), " on ", p.device(),
                ". The parameter has changed since an earlier step: make a new optimizer after "
                "the change, or give this one states that fit");
  }
}

OptimizerParamState& Optimizer::state_of(const Tensor& p) {
  std::unique_ptr<OptimizerParamState>& state = state_[p.unsafe_impl()];
  if (!state) state = new_state();
  return *state;
}

void Optimizer::make_states() {
  for (const OptimizerParamGroup& group : groups_)
    for (const Tensor& p : group.params()) start(p, state_of(p), group.options());
}

std::unique_ptr<OptimizerParamState> Optimizer::new_state() const {
  not_defined("new_state()", typeid(*this), "Optimizer");
}

bool Optimizer::start(const Tensor&, OptimizerParamState&, const OptimizerOptions&) const {
  return false;
}

void Optimizer::update(const Tensor&, const Tensor&, OptimizerParamState&, const OptimizerOptions&,
                       bool) {
  not_defined("update()", typeid(*this), "Optimizer");
}

void Optimizer::zero_grad(bool set_to_none) {
  for (OptimizerParamGroup& group : groups_) {
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

}  // namespace tenon::optim

#include "runtime/fusion/fused.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>

#include "aten/dispatch/warning.h"
#include "runtime/fusion/guards.h"
#include "runtime/fusion/trace_function.h"

namespace tenon::fusion {
/// An operator for inputs that the guards describe; built or being built.
struct FusedFunction::Variant {
  ~Variant() {
    if (builder.joinable()) builder.join();
  }

  std::vector<Guard> guards;
  TracedFunction traced;
  std::thread builder;
  std::mutex mutex;
  bool is_built = false;
  std::exception_ptr error;

  bool holds(const func::Tensors& inputs) const {
    return of_same_kind(inputs) &&
           (!traced.depends_on_gradients || traced.records_gradients == records_gradients(inputs));
  }
  bool of_same_kind(const func::Tensors& inputs) const {
    return guards.size() == inputs.size() &&
           std::equal(guards.begin(), guards.end(), inputs.begin(),
                      [](const Guard& guard, const Tensor& t) { return guard.holds(t); });
  }
  void build() {
    try {
      fusion::build(traced);
      const std::lock_guard lock(mutex);
      is_built = true;
    } catch (...) {
      const std::lock_guard lock(mutex);
      error = std::current_exception();
    }
  }
  std::pair<bool, std::exception_ptr> state() {
    const std::lock_guard lock(mutex);
    return {is_built, error};
  }
};

struct FusedFunction::State {
  FusedOptions options;
  std::mutex mutex;
  std::vector<std::shared_ptr<Variant>> variants;

  std::shared_ptr<Variant> find(const func::Tensors& inputs) const {
    for (const auto& one : variants) {
      if (one->holds(inputs)) return one;
    }
    return nullptr;
  }

  void say_what_changed(const func::Tensors& inputs) const {
    const std::vector<Guard>& last = variants.back()->guards;
    std::string changed;
    for (size_t i = 0; i < inputs.size() && i < last.size(); ++i) {
      if (last[i].holds(inputs[i])) continue;
      changed += tenon::detail::concat(changed.empty() ? "" : "; ", "argument ", i, " is ",
                                       Guard(inputs[i]).text(), ", was ", last[i].text());
    }
    if (last.size() != inputs.size()) changed = "another number of arguments is given";
    TENON_WARN("[fuse] ", options.name, " is traced again: ", changed);
  }

  std::shared_ptr<Variant> add(const func::ListFunction& f, const func::Tensors& inputs) {
    const bool known = std::any_of(variants.begin(), variants.end(),
                                   [&](const auto& one) { return one->of_same_kind(inputs); });
    if (!variants.empty() && !known) say_what_changed(inputs);
    auto made = std::make_shared<Variant>();
    for (const Tensor& one : inputs) made->guards.emplace_back(one);
    made->traced = trace(f, inputs);
    if (options.background) {
      made->builder = std::thread([variant = made.get()] { variant->build(); });
    } else {
      fusion::build(made->traced);
      made->is_built = true;
    }
    variants.push_back(made);
    return made;
  }

  /// The next call of its kind builds it again.
  void forget(const Variant* variant) {
    const std::lock_guard lock(mutex);
    std::erase_if(variants, [&](const auto& one) { return one.get() == variant; });
  }
};

FusedFunction::FusedFunction(FusedOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}
FusedFunction::~FusedFunction() = default;

func::Tensors FusedFunction::call(const func::ListFunction& f, const func::Tensors& inputs) {
  if (is_tracing()) return f(inputs);  // it is part of another one
  std::shared_ptr<Variant> variant;
  {
    const std::lock_guard lock(state_->mutex);
    variant = state_->find(inputs);
    if (!variant) variant = state_->add(f, inputs);
  }
  const auto [is_built, error] = variant->state();
  if (error) {
    state_->forget(variant.get());
    std::rethrow_exception(error);
  }
  if (!is_built) return f(inputs);
  return run(variant->traced, inputs, variant->traced.captured);
}

void FusedFunction::wait() {
  std::vector<std::shared_ptr<Variant>> all;
  {
    const std::lock_guard lock(state_->mutex);
    all = state_->variants;
  }
  for (const auto& one : all) {
    if (one->builder.joinable()) one->builder.join();
  }
}

}  // namespace tenon::fusion

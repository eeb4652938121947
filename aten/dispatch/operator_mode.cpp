#include "aten/dispatch/operator_mode.h"

#include <utility>

#include "aten/dispatch/exclude_layers.h"
#include "aten/dispatch/registration.h"

namespace tenon {
namespace {

constinit thread_local OperatorModeGuard* innermost = nullptr;

void enable(bool enabled) {
  constexpr uint8_t kLayer = DispatchKeySet(DispatchLayer::Profiler).layers;
  uint8_t& layers = thread_state.enabled_layers;
  layers = static_cast<uint8_t>(enabled ? layers | kLayer : layers & ~kLayer);
  thread_state.refresh();
}

}  // namespace

OperatorMode::~OperatorMode() = default;

void OperatorModeGuard::run(const OperatorEntry& op, DispatchKeySet, Stack& stack) {
  OperatorModeGuard* const guard = innermost;
  if (!guard || !guard->outer_) {
    const ExcludeLayers below(DispatchLayer::Profiler);
    return guard ? guard->mode_.call(op, stack) : op.call_boxed(stack);
  }
  struct Below {
    OperatorModeGuard* guard;
    ~Below() { innermost = guard; }
  } const below{guard};
  innermost = guard->outer_;
  guard->mode_.call(op, stack);
}

OperatorModeGuard::OperatorModeGuard(OperatorMode& mode) : mode_(mode), outer_(innermost) {
  [[maybe_unused]] static const bool is_registered = [] {
    tenon::detail::add_fallback(DispatchKey::Profiler, &OperatorModeGuard::run,
                                "aten/dispatch/operator_mode.cpp");
    return true;
  }();
  innermost = this;
  enable(true);
}

OperatorModeGuard::~OperatorModeGuard() {
  // Python may leave its contexts in another order than that of entering.
  OperatorModeGuard** place = &innermost;
  while (*place && *place != this) place = &(*place)->outer_;
  if (*place) *place = outer_;
  enable(innermost != nullptr);
}

}  // namespace tenon

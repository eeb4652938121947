#include "autograd/call_mode.h"

#include "aten/dispatch/registration.h"

namespace tenon::autograd {
namespace {

constinit thread_local CallModeGuard* innermost = nullptr;

void enable(bool enabled) {
  constexpr uint8_t kLayer = DispatchKeySet(DispatchLayer::ForwardGrad).layers;
  uint8_t& layers = thread_state.enabled_layers;
  layers = static_cast<uint8_t>(enabled ? layers | kLayer : layers & ~kLayer);
  thread_state.refresh();
}

}  // namespace

CallMode::~CallMode() = default;

void CallMode::go_on(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
  CallModeGuard* const guard = innermost;
  if (!guard) return redispatch_boxed(op, keys.remove(DispatchLayer::ForwardGrad), stack);
  struct Below {
    CallModeGuard* guard;
    ~Below() { innermost = guard; }
  } const below{guard};
  innermost = guard->outer_;
  guard->mode_.call(op, keys, stack);
}

CallModeGuard::CallModeGuard(CallMode& mode) : mode_(mode), outer_(innermost) {
  [[maybe_unused]] static const bool is_registered = [] {
    tenon::detail::add_fallback(DispatchKey::ForwardGrad, &CallMode::go_on,
                                "autograd/call_mode.cpp");
    return true;
  }();
  innermost = this;
  enable(true);
}

CallModeGuard::~CallModeGuard() {
  // Python may leave its contexts in another order than that of entering.
  CallModeGuard** place = &innermost;
  while (*place && *place != this) place = &(*place)->outer_;
  if (*place) *place = outer_;
  enable(innermost != nullptr);
}

}  // namespace tenon::autograd

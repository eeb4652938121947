#include "autograd/call_mode.h"

namespace tenon::autograd {

CallMode::~CallMode() = default;

CallModeGuard*& CallMode::innermost() {
  constinit thread_local CallModeGuard* guard = nullptr;
  return guard;
}

void CallMode::go_on(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
  CallModeGuard::with_next([&](CallMode* mode, bool) {
    if (!mode) return redispatch_boxed(op, keys.remove(DispatchLayer::ForwardGrad), stack);
    mode->call(op, keys, stack);
  });
}

}  // namespace tenon::autograd

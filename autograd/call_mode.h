#pragma once

#include "aten/dispatch/mode_guard.h"

namespace tenon::autograd {

/// Sees the calls of a thread above Autograd and below Autocast: of all operators that have a
/// derivative of their own, in the order of the calls. Operators that are made of others show as
/// these; what Autograd's kernels call themselves is not seen.
class TENON_API CallMode {
 public:
  static constexpr DispatchKey kKey = DispatchKey::ForwardGrad;
  static constexpr const char* kSource = "autograd/call_mode.cpp";

  virtual ~CallMode();
  /// Takes the place of a call: the arguments are on top of the stack, and the results shall be.
  virtual void call(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) = 0;

 protected:
  CallMode() = default;
  CallMode(const CallMode&) = delete;
  CallMode& operator=(const CallMode&) = delete;
  /// The call itself. This mode does not see what it does in its turn.
  static void go_on(const OperatorEntry& op, DispatchKeySet keys, Stack& stack);

 private:
  friend class ModeGuard<CallMode>;
  static ModeGuard<CallMode>*& innermost();
};

using CallModeGuard = ModeGuard<CallMode>;

}  // namespace tenon::autograd

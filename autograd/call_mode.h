#pragma once

#include "aten/dispatch/operator_entry.h"

namespace tenon::autograd {

/// Sees the calls of a thread above Autograd and below Autocast: of all operators that have a
/// derivative of their own, in the order of the calls. Operators that are made of others show as
/// these; what Autograd's kernels call themselves is not seen.
class TENON_API CallMode {
 public:
  virtual ~CallMode();
  /// Takes the place of a call: the arguments are on top of the stack, and the results shall be.
  virtual void call(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) = 0;

 protected:
  friend class CallModeGuard;
  CallMode() = default;
  CallMode(const CallMode&) = delete;
  CallMode& operator=(const CallMode&) = delete;
  /// The call itself. This mode does not see what it does in its turn.
  static void go_on(const OperatorEntry& op, DispatchKeySet keys, Stack& stack);
};

/// Until the end of the scope `mode` sees this thread's calls; of several the one that came last
/// first. Nothing is paid for it outside of such scopes.
class TENON_API CallModeGuard {
 public:
  explicit CallModeGuard(CallMode& mode);
  ~CallModeGuard();
  CallModeGuard(const CallModeGuard&) = delete;
  CallModeGuard& operator=(const CallModeGuard&) = delete;

 private:
  friend class CallMode;

  CallMode& mode_;
  CallModeGuard* outer_;
};

}  // namespace tenon::autograd

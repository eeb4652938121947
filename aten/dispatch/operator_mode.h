#pragma once

#include "aten/dispatch/operator_entry.h"

namespace tenon {

/// Sees a thread's calls of all operators before any other layer does, also of operators that are
/// made of others.
class TENON_API OperatorMode {
 public:
  virtual ~OperatorMode();
  /// Takes the place of a call: the arguments are on top of the stack, and the results shall be.
  /// `op.call_boxed(stack)` is the call itself. This mode does not see what is called here.
  virtual void call(const OperatorEntry& op, Stack& stack) = 0;

 protected:
  OperatorMode() = default;
  OperatorMode(const OperatorMode&) = delete;
  OperatorMode& operator=(const OperatorMode&) = delete;
};

/// Until the end of the scope `mode` sees this thread's calls; of several modes the one that came
/// last first, and the others what it calls. Nothing is paid for it outside of such scopes.
class TENON_API OperatorModeGuard {
 public:
  explicit OperatorModeGuard(OperatorMode& mode);
  ~OperatorModeGuard();
  OperatorModeGuard(const OperatorModeGuard&) = delete;
  OperatorModeGuard& operator=(const OperatorModeGuard&) = delete;

 private:
  static void run(const OperatorEntry& op, DispatchKeySet keys, Stack& stack);

  OperatorMode& mode_;
  OperatorModeGuard* outer_;
};

}  // namespace tenon

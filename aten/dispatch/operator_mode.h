#pragma once

#include "aten/dispatch/mode_guard.h"

namespace tenon {

/// Sees a thread's calls of all operators before any other layer does, also of operators that are
/// made of others.
class TENON_API OperatorMode {
 public:
  static constexpr DispatchKey kKey = DispatchKey::Profiler;
  static constexpr const char* kSource = "aten/dispatch/operator_mode.cpp";

  virtual ~OperatorMode();
  /// Takes the place of a call: the arguments are on top of the stack, and the results shall be.
  /// `op.call_boxed(stack)` is the call itself. This mode does not see what is called here.
  virtual void call(const OperatorEntry& op, Stack& stack) = 0;

 protected:
  OperatorMode() = default;
  OperatorMode(const OperatorMode&) = delete;
  OperatorMode& operator=(const OperatorMode&) = delete;

 private:
  friend class ModeGuard<OperatorMode>;
  static ModeGuard<OperatorMode>*& innermost();
  static void go_on(const OperatorEntry& op, DispatchKeySet keys, Stack& stack);
};

using OperatorModeGuard = ModeGuard<OperatorMode>;

}  // namespace tenon

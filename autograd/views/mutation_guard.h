#pragma once

#include "autograd/call_mode.h"
#include "autograd/saved/saved_tensor_hooks.h"

namespace tenon::autograd {

/// Until the end of the scope tensors that this thread's operations save for backward may be
/// changed in place: what has been saved is copied before the first operator that changes its
/// memory. Backward runs within the same scope: afterwards what was saved is gone, an Error.
/// A change that no operator shows (of a raw pointer, or by an operator without a derivative of its
/// own) is noticed as ever. Does not nest: Error.
class TENON_API AllowMutationOnSavedTensors {
 public:
  AllowMutationOnSavedTensors();
  ~AllowMutationOnSavedTensors();
  AllowMutationOnSavedTensors(const AllowMutationOnSavedTensors&) = delete;
  AllowMutationOnSavedTensors& operator=(const AllowMutationOnSavedTensors&) = delete;
  /// Gives up what has been saved so far.
  void clear();

 private:
  struct State;
  class CopyBeforeChange;

  std::shared_ptr<State> state_;
  std::unique_ptr<CopyBeforeChange> mode_;
  SavedTensorHooksGuard hooks_;
  CallModeGuard calls_;
};

}  // namespace tenon::autograd

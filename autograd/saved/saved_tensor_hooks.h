#pragma once

#include <any>
#include <functional>
#include <memory>
#include <string>

#include "autograd/engine/node.h"

namespace tenon::autograd {

/// What is kept in the stead of a tensor that an operation saves for backward.
///   pack     gets the tensor, which it must not change in place, and gives what is kept. Results
///   of
///            the operation itself come without history; inputs come as they are
///   unpack   gives a tensor of the same values; called each time backward needs them
/// Changes in place of what was packed are not noticed. Numbers that stand for a tensor are not
/// packed.
struct SavedTensorHooks {
  std::function<std::any(const Tensor& tensor)> pack;
  std::function<Tensor(const std::any& packed)> unpack;
};

struct PackedTensor;

/// Until the end of the scope this thread's operations save their tensors through `hooks`. Of
/// nested ones the innermost alone is asked. Throws where hooks are disabled.
class TENON_API SavedTensorHooksGuard {
 public:
  explicit SavedTensorHooksGuard(SavedTensorHooks hooks);
  ~SavedTensorHooksGuard();
  SavedTensorHooksGuard(const SavedTensorHooksGuard&) = delete;
  SavedTensorHooksGuard& operator=(const SavedTensorHooksGuard&) = delete;

 private:
  friend class SavedVariable;

  std::shared_ptr<const SavedTensorHooks> hooks_;
  const SavedTensorHooksGuard* outer_;
};

/// Until the end of the scope saved-tensor hooks are an error with this message on this thread:
/// both saving a tensor under hooks that are in force already and new ones.
class TENON_API DisableSavedTensorHooks {
 public:
  explicit DisableSavedTensorHooks(std::string message);
  ~DisableSavedTensorHooks();
  DisableSavedTensorHooks(const DisableSavedTensorHooks&) = delete;
  DisableSavedTensorHooks& operator=(const DisableSavedTensorHooks&) = delete;

 private:
  friend void check_saved_tensor_hooks_are_enabled();

  std::string message_;
  const DisableSavedTensorHooks* outer_;
};

/// Throws the message of the innermost DisableSavedTensorHooks, if there is one.
void check_saved_tensor_hooks_are_enabled();

/// Until the end of the scope tensors are kept for backward in the CPU's memory, and brought back
/// to their device when they are needed. On the CPU they are kept as they are.
class TENON_API SaveOnCpu : public SavedTensorHooksGuard {
 public:
  SaveOnCpu();
};

/// The innermost hooks of this thread, null without any.
extern TENON_API constinit thread_local const SavedTensorHooksGuard* saved_tensor_hooks
    __attribute__((tls_model("initial-exec")));

}  // namespace tenon::autograd

#pragma once

#include "autograd/engine/hooks.h"

namespace tenon::autograd {

/// The hooks on several tensors that belong to one.
class TENON_API MultiGradHandle {
 public:
  explicit MultiGradHandle(std::vector<HookHandle> handles) : handles_(std::move(handles)) {}
  void remove() const {
    for (const HookHandle& handle : handles_) handle.remove();
  }

 private:
  std::vector<HookHandle> handles_;
};

/// Calls `hook` once in each backward pass that computes gradients of some of the tensors, when all
/// of these are there; others are undefined. One that turns out to be undefined itself is waited
/// for until the pass ends. Passes of several threads count apart. Throws unless all require grad.
TENON_API MultiGradHandle register_multi_grad_hook(
    const std::vector<Tensor>& tensors, std::function<void(const std::vector<Tensor>& grads)> hook);

/// Calls `hook` once in each backward pass, with the first gradient of any of the tensors.
TENON_API MultiGradHandle register_any_grad_hook(const std::vector<Tensor>& tensors,
                                                 std::function<void(const Tensor& grad)> hook);

}  // namespace tenon::autograd

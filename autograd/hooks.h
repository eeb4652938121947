#pragma once

#include <functional>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::autograd {

using variable_list = SmallVector<Tensor, 3>;

/// Sees the gradients that a node is about to take; what it returns replaces them.
using PreHook = std::function<variable_list(const variable_list& grads)>;
/// Sees the gradients that a node has given and taken; what it returns replaces those given.
using PostHook = std::function<variable_list(const variable_list& grad_inputs,
                                             const variable_list& grad_outputs)>;
/// Sees the gradient of one tensor; a defined result replaces it.
using TensorHook = std::function<Tensor(const Tensor& grad)>;
/// Called with a leaf whose grad() has been added to.
using PostAccumulateHook = std::function<void(const Tensor& leaf)>;

/// Hooks in the order they were registered. A removed one leaves its place empty, so that positions
/// stay valid and hooks may remove themselves and each other while they run.
template <class Hook>
class HookList {
 public:
  size_t add(Hook hook) {
    hooks_.push_back(std::move(hook));
    return hooks_.size() - 1;
  }
  /// IndexError unless add() gave out this position.
  void remove(size_t position) {
    TENON_CHECK_INDEX(position < hooks_.size(), "[remove_hook] there is no hook ", position,
                      ", got ", hooks_.size(), " hooks");
    hooks_[position] = nullptr;
  }
  bool empty() const { return hooks_.empty(); }
  /// Calls run(hook) for each. The hook is a copy, since the call may add or remove some.
  template <class Run>
  void for_each(Run&& run) const {
    for (size_t i = 0; i < hooks_.size(); ++i) {
      if (const Hook hook = hooks_[i]) run(hook);
    }
  }

 private:
  std::vector<Hook> hooks_;
};

/// Hooks of a node and of the tensors it made; most nodes have none.
struct NodeHooks {
  struct OnTensor {
    uint32_t output_nr = 0;
    TensorHook call;

    OnTensor() = default;
    OnTensor(std::nullptr_t) {}
    OnTensor(uint32_t nr, TensorHook hook) : output_nr(nr), call(std::move(hook)) {}
    explicit operator bool() const { return static_cast<bool>(call); }
  };
  /// A tensor whose retain_grad() was called; it removes the entry when it goes.
  struct Retained {
    uint32_t output_nr;
    TensorImpl* tensor;
  };
  HookList<OnTensor> on_tensors;
  std::vector<Retained> retained;
  HookList<PreHook> pre;
  HookList<PostHook> post;
};

}  // namespace tenon::autograd

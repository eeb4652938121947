#pragma once

#include <atomic>

#include "autograd/node.h"

namespace tenon::autograd {

class AccumulateGrad;

/// Hooks of a leaf.
struct LeafHooks {
  HookList<TensorHook> on_grad;
  HookList<PostAccumulateHook> post_accumulate;
};

/// What a tensor knows about gradients; made when it first takes part in any.
struct AutogradMeta {
  Tensor grad;
  IntrusivePtr<Node> grad_fn;  ///< null for a leaf
  AccumulateGrad* accumulator =
      nullptr;  ///< of a leaf; asleep, and then owned, when no graph leads to it
  std::unique_ptr<LeafHooks> hooks;
  uint32_t output_nr = 0;      ///< which result of grad_fn
  bool requires_grad = false;  ///< of a leaf
  bool retains_grad = false;
  std::atomic<bool> locked{false};  ///< guards `accumulator`; held for a few instructions only

  static void* operator new(size_t bytes) { return memory::allocate(bytes); }
  static void operator delete(void* block, size_t bytes) { memory::deallocate(block, bytes); }
};

inline AutogradMeta& meta_of(TensorImpl& impl) {
  if (!impl.autograd_meta) impl.autograd_meta = new AutogradMeta;
  return *impl.autograd_meta;
}

/// Makes result `output_nr` of `node` of the tensor. A gradient that is retained is from here on
/// that of the new value.
TENON_API void set_grad_fn(TensorImpl& impl, IntrusivePtr<Node> node, uint32_t output_nr);

/// Undoes retain_grad().
void stop_retaining_grad(AutogradMeta& meta) noexcept;

/// The node that made the tensor. A view whose base was changed in place since gets a new one here.
TENON_API const IntrusivePtr<Node>& grad_fn_of(const Tensor& tensor);
/// Where the gradient of the tensor goes: its grad_fn, or its accumulator if it is a leaf that
/// requires grad, or nowhere.
TENON_API Edge gradient_edge(const Tensor& tensor);

}  // namespace tenon::autograd

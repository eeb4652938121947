#pragma once

#include "autograd/node.h"

namespace tenon::autograd {

/// What a tensor knows about gradients; made when it first takes part in any.
struct AutogradMeta {
  Tensor grad;
  IntrusivePtr<Node> grad_fn;      ///< null for a leaf
  Node* accumulator = nullptr;     ///< of a leaf; not owned: the accumulator owns the leaf
  uint32_t output_nr = 0;          ///< which result of grad_fn
  bool requires_grad = false;      ///< of a leaf
  bool retains_grad = false;
  std::vector<TensorHook> hooks;   ///< of a leaf; empty functions have been removed
  std::vector<std::function<void(const Tensor&)>> post_accumulate_hooks;
};

AutogradMeta& meta_of(TensorImpl& impl);

/// The node that made the tensor. A view whose base was changed in place since gets a new one here.
const IntrusivePtr<Node>& grad_fn_of(const Tensor& tensor);
/// Where the gradient of the tensor goes: its grad_fn, or its accumulator if it is a leaf that
/// requires grad, or nowhere.
TENON_API Edge gradient_edge(const Tensor& tensor);

}  // namespace tenon::autograd

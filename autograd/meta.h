#pragma once

#include <mutex>

#include "autograd/engine/node.h"

namespace tenon::autograd {

class AccumulateGrad;

/// Hooks of a tensor and other things that few tensors have.
struct TensorHooks {
  HookList<TensorHook> on_grad;  ///< of a leaf
  HookList<PostAccumulateHook> post_accumulate;
  /// Of register_hook(), wherever the hooks are: on this tensor or on nodes that made it.
  std::vector<HookHandle> handles;
  std::mutex handles_mutex;
  std::shared_ptr<RetainedGrad> retained;
  bool has_grad_dtype = false;           ///< of a leaf whose gradients have a dtype of their own:
  std::optional<ScalarType> grad_dtype;  ///< that one, nullopt for any
};

/// The tangent of a tensor in forward mode. It is valid while `level` is the current one.
struct ForwardGrad {
  Tensor tangent;
  uint64_t level = 0;
};

/// The autograd data of a tensor, created when it first takes part in a recorded operation.
struct AutogradMeta {
  Tensor grad;
  IntrusivePtr<Node> grad_fn;             ///< null for a leaf
  AccumulateGrad* accumulator = nullptr;  ///< of a leaf, which owns it while it is asleep
  OnDemand<TensorHooks> hooks;
  OnDemand<ForwardGrad> forward_grad;
  uint32_t output_nr = 0;      ///< which result of grad_fn
  bool requires_grad = false;  ///< of a leaf
  bool retains_grad = false;
  SpinLock accumulator_lock;
  SpinLock grad_lock;

  /// `grad`, while backward passes on other threads may add to it.
  Tensor current_grad() {
    const std::lock_guard lock(grad_lock);
    return grad;
  }
  /// Puts the old value into `value`: its last reference must not be released under the lock.
  void swap_grad(Tensor& value) {
    const std::lock_guard lock(grad_lock);
    std::swap(grad, value);
  }

  static void* operator new(size_t bytes) { return memory::allocate(bytes); }
  static void operator delete(void* block, size_t bytes) { memory::deallocate(block, bytes); }
};

inline AutogradMeta& meta_of(TensorImpl& impl) {
  AutogradMeta* meta = impl.autograd_meta;
  if (!meta) {
    meta = new AutogradMeta;
    impl.autograd_meta.store(meta, std::memory_order_release);
  }
  return *meta;
}

/// False for a view whose base was changed in place after the view's node was made. Any thread may
/// then replace the node, so `grad_fn`, `output_nr` and `requires_grad` must not be read without a
/// lock.
inline bool has_current_history(const TensorImpl& impl) {
  return TENON_LIKELY(!impl.base) ||
         impl.history_version.load(std::memory_order_acquire) == impl.version();
}
/// The same as `grad_fn != nullptr` and `grad_fn || requires_grad`, read under the lock.
TENON_API bool outdated_view_has_grad_fn(const TensorImpl& view);
bool outdated_view_is_recorded(const TensorImpl& view);
/// Whether a node made the tensor.
inline bool has_grad_fn(const TensorImpl& impl) {
  if (TENON_UNLIKELY(!has_current_history(impl))) return outdated_view_has_grad_fn(impl);
  const AutogradMeta* meta = impl.autograd_meta;
  return meta && meta->grad_fn;
}

/// Makes the tensor result `output_nr` of `node`. retain_grad() applies to the new value from now
/// on.
TENON_API void set_grad_fn(TensorImpl& impl, IntrusivePtr<Node> node, uint32_t output_nr);

/// Makes the node fill the tensor's grad(), in place of the node that did before.
TENON_API void retain_grad_of(AutogradMeta& meta, Node& node, uint32_t output_nr);

/// The node that made the tensor. If its base was changed in place since, a view gets a new node.
TENON_API const IntrusivePtr<Node>& grad_fn_of(const Tensor& tensor);
/// Where the gradient of the tensor goes: to its grad_fn, or for a leaf that requires grad to its
/// accumulator. Invalid for other tensors.
TENON_API Edge gradient_edge(const Tensor& tensor);

}  // namespace tenon::autograd

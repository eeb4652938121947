#include "autograd/engine/accumulate_grad.h"

#include <limits>

#include "aten/core/python_object.h"
#include "aten/core/thread_state.h"
#include "autograd/engine/owned_alone.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/empty_strided.h"
#include "tenon/ops/new_empty_strided.h"

namespace tenon::autograd {
namespace {

/// Whether the gradient itself may become grad(): nobody else sees its memory, and it has the
/// layout that PyTorch promises (the strides of a dense leaf, otherwise row-major).
bool may_steal(const Tensor& grad, const Tensor& leaf) {
  if (grad.use_count() != 1) return false;
  if (!grad.unsafe_impl()->has_memory) return grad.layout() != kStrided;
  if (grad.unsafe_impl()->storage->refs.count() != 1) return false;
  return leaf.is_non_overlapping_and_dense() ? grad.strides() == leaf.strides()
                                             : grad.is_contiguous();
}

Tensor copy_in_layout_of(const Tensor& grad, const Tensor& leaf) {
  if (grad.layout() != kStrided || leaf.layout() != kStrided) return grad.clone();
  if (!leaf.is_non_overlapping_and_dense()) return grad.clone(MemoryFormat::Contiguous);
  return empty_strided(leaf.sizes(), leaf.strides(), grad.options()).copy_(grad);
}

/// The same with operators that Python takes: it sees how a gradient becomes grad().
Tensor taken_by_python(const Tensor& grad, const Tensor& leaf) {
  const bool dense = leaf.is_non_overlapping_and_dense();
  const bool fits = dense ? grad.strides() == leaf.strides() : grad.is_contiguous();
  if (fits && grad.use_count() == 1) return grad.detach();
  if (!dense) return grad.clone(MemoryFormat::Contiguous);
  return new_empty_strided(grad, leaf.sizes(), leaf.strides()).copy_(grad);
}

}  // namespace

IntrusivePtr<Node> AccumulateGrad::of(const Tensor& leaf) {
  AutogradMeta& meta = meta_of(*leaf.unsafe_impl());
  while (true) {
    {
      const std::lock_guard lock(meta.accumulator_lock);
      if (!meta.accumulator) {
        meta.accumulator = new AccumulateGrad(leaf);
        return IntrusivePtr<Node>::adopt(meta.accumulator);
      }
      if (meta.accumulator->asleep()) {
        meta.accumulator->wake(leaf);
        return IntrusivePtr<Node>::adopt(meta.accumulator);
      }
      if (meta.accumulator->refs.retain_if_alive())
        return IntrusivePtr<Node>::adopt(meta.accumulator);
    }
    std::this_thread::yield();  // another thread has released the last reference and is about to
                                // retire it
  }
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : variable_(leaf) {
  is_accumulator_ = true;
  sequence_nr_ = std::numeric_limits<uint64_t>::max();  // runs as soon as it can
  add_input_metadata(leaf);
  take_grad_dtype_of(leaf);
}

void AccumulateGrad::wake(const Tensor& leaf) {
  variable_ = leaf;
  ::new (&refs) RefCount;
  if (TENON_UNLIKELY(has_device_streams() || !metadata_[0].matches(*leaf.unsafe_impl())))
    leaf_has_changed(leaf);
}

void AccumulateGrad::leaf_has_changed(const Tensor& leaf) {
  metadata_[0] = InputMetadata(leaf);
  take_grad_dtype_of(leaf);
}

void AccumulateGrad::take_grad_dtype_of(const Tensor& leaf) {
  const TensorHooks* extras = meta_of(*leaf.unsafe_impl()).hooks.get();
  if (extras && extras->has_grad_dtype) metadata_[0].set_grad_dtype(extras->grad_dtype);
}

void AccumulateGrad::retire() noexcept {
  Tensor leaf;  // released last: the leaf owns this object
  {
    const std::lock_guard lock(meta_of(*variable_.unsafe_impl()).accumulator_lock);
    // A thread that has found this awake since has added a reference under the lock.
    if (refs.count() > 1 && !refs.release()) return;
    leaf = std::move(variable_);
  }
}

void AccumulateGrad::accumulate(Tensor&& grad) {
  AutogradMeta& meta = meta_of(*variable_.unsafe_impl());
  Tensor sum = meta.current_grad();
  if (GradMode::is_enabled()) {
    sum = sum.defined() ? sum_of_gradients(sum, grad) : grad.clone();
    meta.swap_grad(sum);
    return;
  }
  if (sum.defined()) {
    TENON_CHECK(sum.sizes() == grad.sizes() &&
                    (sum.scalar_type() == grad.scalar_type() || metadata_[0].takes_any_dtype()),
                "[backward] expected the grad() of a leaf to have its sizes and dtype, ",
                grad.scalar_type(), grad.sizes(), ", got ", sum.scalar_type(), sum.sizes());
    if (TENON_UNLIKELY(sum.layout() != kStrided && grad.layout() == kStrided)) {
      sum = sum_of_gradients(sum, grad);
      meta.swap_grad(sum);
    } else {
      sum.add_(grad);
    }
    return;
  }
  if (TENON_UNLIKELY(python_takes(grad.key_set() | variable_.key_set()))) {
    sum = taken_by_python(grad, variable_);
    meta.swap_grad(sum);
    return;
  }
  if (grad.unsafe_impl()->autograd_meta || grad.unsafe_impl()->base) grad = grad.detach();
  sum = may_steal(grad, variable_) ? std::move(grad) : copy_in_layout_of(grad, variable_);
  meta.swap_grad(sum);
}

variable_list AccumulateGrad::apply(variable_list&& grads) {
  if (!grads[0].defined()) return {};
  const AutogradMeta& meta = meta_of(*variable_.unsafe_impl());
  TENON_CHECK(!meta.grad_fn, "leaf variable has been moved into the graph interior");
  if (!meta.requires_grad) return {};  // frozen since the forward pass
  {
    const std::lock_guard lock(mutex_);
    accumulate(std::move(grads[0]));
  }
  if (const TensorHooks* hooks = meta.hooks.get()) {
    hooks->post_accumulate.for_each([&](const PostAccumulateHook& hook) { hook(variable_); });
  }
  return {};
}

}  // namespace tenon::autograd

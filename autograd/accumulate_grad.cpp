#include "autograd/accumulate_grad.h"

#include <limits>
#include <mutex>

#include "aten/core/thread_state.h"
#include "tenon/ops/add.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/empty_strided.h"

namespace tenon::autograd {
namespace {

/// Guards every leaf's weak pointer to its accumulator; held for a few instructions only.
std::mutex accumulator_mutex;

/// Whether the gradient may become the leaf's own: nobody else sees its memory, and its layout is the
/// one that PyTorch promises (the leaf's strides where it is dense, else row-major).
bool may_steal(const Tensor& grad, const Tensor& leaf) {
  if (GradMode::is_enabled()) return false;
  if (grad.use_count() != 1 || grad.storage().use_count() > 2 || grad.is_view()) return false;
  return leaf.is_non_overlapping_and_dense() ? grad.strides() == leaf.strides() : grad.is_contiguous();
}

Tensor copy_in_layout_of(const Tensor& grad, const Tensor& leaf) {
  if (!leaf.is_non_overlapping_and_dense()) return grad.clone(MemoryFormat::Contiguous);
  return empty_strided(leaf.sizes(), leaf.strides(), grad.options()).copy_(grad);
}

}  // namespace

IntrusivePtr<Node> AccumulateGrad::of(const Tensor& leaf) {
  AutogradMeta& meta = meta_of(*leaf.unsafe_impl());
  std::lock_guard lock(accumulator_mutex);
  if (meta.accumulator && meta.accumulator->refs.retain_if_alive()) {
    return IntrusivePtr<Node>::adopt(meta.accumulator);
  }
  auto node = make_node<AccumulateGrad>(leaf);
  meta.accumulator = node.get();
  return node;
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : variable_(leaf) {
  sequence_nr_ = std::numeric_limits<uint64_t>::max();  // runs as soon as it can
  add_input_metadata(leaf);
}

void AccumulateGrad::destroy_unless_revived() noexcept {
  {
    std::lock_guard lock(accumulator_mutex);
    if (!refs.clear_if_sole()) return;
    AutogradMeta& meta = meta_of(*variable_.unsafe_impl());
    if (meta.accumulator == this) meta.accumulator = nullptr;
  }
  delete this;
}

variable_list AccumulateGrad::apply(variable_list&& grads) {
  Tensor grad = std::move(grads[0]);
  grads.clear();
  if (!grad.defined()) return {};
  AutogradMeta& meta = meta_of(*variable_.unsafe_impl());
  for (size_t i = 0; i < meta.hooks.size(); ++i) {
    const auto hook = meta.hooks[i];  // a hook may remove itself
    if (!hook) continue;
    if (Tensor replaced = hook(grad); replaced.defined()) grad = std::move(replaced);
  }
  if (!meta.grad.defined()) {
    if (may_steal(grad, variable_)) {
      meta.grad = grad.detach();
    } else if (GradMode::is_enabled()) {
      meta.grad = grad.clone();
    } else {
      meta.grad = copy_in_layout_of(grad.detach(), variable_);
    }
  } else if (GradMode::is_enabled()) {
    meta.grad = meta.grad + grad;
  } else {
    meta.grad.add_(grad);
  }
  for (size_t i = 0; i < meta.post_accumulate_hooks.size(); ++i) {
    const auto hook = meta.post_accumulate_hooks[i];
    if (hook) hook(variable_);
  }
  return {};
}

}  // namespace tenon::autograd

#include "autograd/meta.h"

#include "aten/batching/batch.h"
#include "autograd/engine/accumulate_grad.h"
#include "autograd/engine/owned_alone.h"
#include "autograd/views/view_history.h"
#include "tenon/ops/add.h"
#include "tenon/ops/clone.h"

namespace tenon {

bool TensorBase::requires_grad_slow() const {
  if (TENON_UNLIKELY(impl_->batched)) return TensorBase(impl_->batched->value).requires_grad();
  const bool current = autograd::has_current_history(*impl_);
  if (TENON_LIKELY(current)) {
    const autograd::AutogradMeta* meta = impl_->autograd_meta;
    if (meta && (meta->grad_fn || meta->requires_grad)) return true;
    if (!impl_->base) return false;
  }
  // A view made before its base had a history, or without recording.
  if (is_differentiable(impl_->dtype) && TensorBase(impl_->base).requires_grad()) return true;
  return !current && autograd::outdated_view_is_recorded(*impl_);
}

namespace autograd {
namespace {

const IntrusivePtr<Node> kNoNode;

}  // namespace

uint32_t next_hook_id() {
  static std::atomic<uint32_t> next{0};
  return next.fetch_add(1, std::memory_order_relaxed);
}

void RetainedGrad::add(const Tensor& grad) {
  Tensor before;
  {
    const std::lock_guard lock(mutex_);
    if (!meta_) return;
    before = meta_->current_grad();
  }
  Tensor sum =
      before.defined() ? sum_of_gradients(before, grad) : grad.clone(MemoryFormat::Contiguous);
  before.reset();
  // What was there goes after the lock has been given up: it may hold the tensor's last reference.
  const std::lock_guard lock(mutex_);
  if (meta_) meta_->swap_grad(sum);
}

void retain_grad_of(AutogradMeta& meta, Node& node, uint32_t output_nr) {
  std::shared_ptr<RetainedGrad>& retained = meta.hooks.get_or_make().retained;
  if (retained) retained->forget();
  retained = std::make_shared<RetainedGrad>(meta);
  const std::lock_guard lock(node.saved_lock());
  node.hooks().retained.push_back({output_nr, retained});
}

void destroy_autograd_meta(AutogradMeta* meta) noexcept {
  // The node may outlive the tensor whose gradient it was to keep.
  if (TENON_UNLIKELY(meta->retains_grad)) meta->hooks.get()->retained->forget();
  // Nothing refers to a leaf that goes, so its accumulator is asleep.
  delete meta->accumulator;
  delete meta;
}

void set_grad_fn(TensorImpl& impl, IntrusivePtr<Node> node, uint32_t output_nr) {
  AutogradMeta& meta = meta_of(impl);
  if (TENON_UNLIKELY(meta.retains_grad)) retain_grad_of(meta, *node, output_nr);
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
  meta.requires_grad = false;
  // A view has the bit from the start; other threads may be reading it.
  if (!impl.key_set.has(DispatchLayer::Autograd))
    impl.key_set = impl.key_set.add(DispatchLayer::Autograd);
  if (impl.base) impl.history_version.store(impl.version(), std::memory_order_release);
}

const IntrusivePtr<Node>& grad_fn_of(const Tensor& tensor) {
  TensorImpl& impl = *tensor.unsafe_impl();
  if (TENON_UNLIKELY(impl.batched)) return grad_fn_of(Tensor(impl.batched->value));
  if (TENON_UNLIKELY(!has_current_history(impl))) regenerate_view_history(tensor);
  const AutogradMeta* meta = impl.autograd_meta;
  return meta ? meta->grad_fn : kNoNode;
}

Edge gradient_edge(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  if (const BatchedValue* batched = tensor.unsafe_impl()->batched)
    return gradient_edge(Tensor(batched->value));
  const IntrusivePtr<Node>& node = grad_fn_of(tensor);
  AutogradMeta* meta = tensor.unsafe_impl()->autograd_meta;
  if (node) return {node, meta->output_nr};
  if (!meta || !meta->requires_grad) return {};
  return {AccumulateGrad::of(tensor), 0};
}

}  // namespace autograd
}  // namespace tenon

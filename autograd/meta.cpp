#include "autograd/meta.h"

#include "autograd/accumulate_grad.h"
#include "autograd/view.h"

namespace tenon {

bool TensorBase::requires_grad_slow() const {
  const autograd::AutogradMeta* meta = impl_->autograd_meta;
  if (meta && (meta->grad_fn || meta->requires_grad)) return true;
  // A view made before its base had a history, or without recording.
  return impl_->base && is_differentiable(impl_->dtype) && TensorBase(impl_->base).requires_grad();
}

namespace autograd {
namespace {

const IntrusivePtr<Node> kNoNode;

}  // namespace

void stop_retaining_grad(AutogradMeta& meta) noexcept {
  meta.retains_grad = false;
  if (!meta.grad_fn) return;
  const Node::Lock lock(*meta.grad_fn);
  NodeHooks* hooks = meta.grad_fn->hooks_or_null();
  if (!hooks) return;
  std::erase_if(hooks->retained, [&](const auto& r) { return r.tensor->autograd_meta == &meta; });
}

void destroy_autograd_meta(AutogradMeta* meta) noexcept {
  // The node may outlive the tensor whose gradient it was to keep.
  if (TENON_UNLIKELY(meta->retains_grad)) stop_retaining_grad(*meta);
  // Nothing refers to a leaf that goes, so its accumulator is asleep.
  delete meta->accumulator;
  delete meta;
}

void set_grad_fn(TensorImpl& impl, IntrusivePtr<Node> node, uint32_t output_nr) {
  AutogradMeta& meta = meta_of(impl);
  if (TENON_UNLIKELY(meta.retains_grad)) {
    stop_retaining_grad(meta);
    meta.retains_grad = true;
    const Node::Lock lock(*node);
    node->hooks().retained.push_back({output_nr, &impl});
  }
  meta.grad_fn = std::move(node);
  meta.output_nr = output_nr;
  meta.requires_grad = false;
  impl.key_set = impl.key_set.add(DispatchLayer::Autograd);
  if (impl.base) impl.history_version = impl.version();
}

const IntrusivePtr<Node>& grad_fn_of(const Tensor& tensor) {
  TensorImpl& impl = *tensor.unsafe_impl();
  if (TENON_UNLIKELY(impl.base) && impl.history_version != impl.version())
    regenerate_view_history(tensor);
  return impl.autograd_meta ? impl.autograd_meta->grad_fn : kNoNode;
}

Edge gradient_edge(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  const IntrusivePtr<Node>& node = grad_fn_of(tensor);
  AutogradMeta* meta = tensor.unsafe_impl()->autograd_meta;
  if (node) return {node, meta->output_nr};
  if (!meta || !meta->requires_grad) return {};
  return {AccumulateGrad::of(tensor), 0};
}

}  // namespace autograd
}  // namespace tenon

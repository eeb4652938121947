#include "autograd/meta.h"

#include <mutex>

#include "autograd/accumulate_grad.h"
#include "autograd/view.h"

namespace tenon {

bool TensorBase::requires_grad_slow() const {
  const Tensor self(*this);
  if (autograd::grad_fn_of(self)) return true;
  return impl_->autograd_meta && impl_->autograd_meta->requires_grad;
}

namespace autograd {
namespace {

const IntrusivePtr<Node> kNoNode;

}  // namespace

void destroy_autograd_meta(AutogradMeta* meta) noexcept {
  if (meta->retains_grad && meta->grad_fn) {
    // The node outlives the tensor whose gradient it was to keep.
    if (NodeHooks* hooks = meta->grad_fn->hooks_or_null()) {
      std::erase_if(hooks->retained, [&](const auto& r) {
        return r.output_nr == meta->output_nr && r.tensor->autograd_meta == meta;
      });
    }
  }
  delete meta;
}

AutogradMeta& meta_of(TensorImpl& impl) {
  if (!impl.autograd_meta) impl.autograd_meta = new AutogradMeta;
  return *impl.autograd_meta;
}

const IntrusivePtr<Node>& grad_fn_of(const Tensor& tensor) {
  TensorImpl& impl = *tensor.unsafe_impl();
  if (impl.base && impl.history_version != impl.version()) regenerate_view_history(tensor);
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

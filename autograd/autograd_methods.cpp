#include <algorithm>

#include "aten/batching/batched_tensor.h"
#include "aten/core/print.h"
#include "aten/core/python_object.h"
#include "aten/core/sparse/sparse_value.h"
#include "aten/core/thread_state.h"
#include "aten/dispatch/warning.h"
#include "autograd/autograd.h"
#include "autograd/batched.h"
#include "autograd/engine/accumulate_grad.h"
#include "autograd/messages.h"
#include "autograd/meta.h"
#include "tenon/tensor.h"

namespace tenon {

using autograd::AutogradMeta;
using autograd::meta_of;

namespace {

/// Printing lies below this layer, so it asks through hooks.
[[maybe_unused]] const bool print_hooks_are_set = [] {
  print_hooks().to_cpu = [](const TensorBase& t) -> TensorBase { return Tensor(t).detach().cpu(); };
  print_hooks().grad_fn_name = [](const TensorBase& t) {
    try {
      const auto& node = autograd::grad_fn_of(Tensor(t));
      return node ? node->name() : std::string();
    } catch (const Error&) {
      return std::string("Invalid");  // a view whose base was changed in a way that forbids it
    }
  };
  return true;
}();

TensorImpl& defined(const Tensor& tensor, const char* method) {
  TENON_CHECK(tensor.defined(), "[", method, "] expected a tensor, got an undefined one");
  return *tensor.unsafe_impl();
}

}  // namespace

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                      std::optional<TensorList> inputs) const {
  TENON_CHECK_VALUE(!inputs || !inputs->empty(),
                    "`inputs` argument to `backward()` cannot be empty.");
  const std::vector<Tensor> grads =
      gradient.defined() ? std::vector<Tensor>{gradient} : std::vector<Tensor>();
  autograd::backward({*this}, grads, retain_graph, create_graph,
                     inputs ? inputs->vec() : std::vector<Tensor>());
}

const Tensor& Tensor::grad() const {
  static const Tensor kUndefined;
  const AutogradMeta* meta = tenon::defined(*this, "grad").autograd_meta;
  if (TENON_UNLIKELY(meta && meta->grad_fn && !meta->retains_grad && !meta->grad.defined())) {
    TENON_WARN("The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. "
               "backward() fills it only if retain_grad() has been called.");
  }
  return meta ? meta->grad : kUndefined;
}

Tensor& Tensor::mutable_grad() const { return meta_of(tenon::defined(*this, "mutable_grad")).grad; }

const Tensor& Tensor::set_requires_grad(bool requires_grad) const {
  if (TENON_UNLIKELY(impl_ && impl_->batched)) {
    batching::value_of_all_levels(*this).set_requires_grad(requires_grad);
    return *this;
  }
  TENON_CHECK(!requires_grad || is_differentiable(scalar_type()),
              "Only Tensors of floating point and complex dtype can require gradients, got ",
              scalar_type());
  TENON_CHECK(
      requires_grad || is_leaf(),
      "you can only change requires_grad flags of leaf variables. If you want to use a computed "
      "variable in a subgraph that doesn't require differentiation use var_no_grad = "
      "var.detach().");
  TENON_CHECK(!requires_grad || !is_inference() || InferenceMode::is_enabled(),
              autograd::messages::kRequiresGradOfInferenceTensor);
  if (!is_leaf()) return *this;
  if (!requires_grad && !impl_->autograd_meta) return *this;
  meta_of(*impl_).requires_grad = requires_grad;
  const DispatchKeySet keys = impl_->key_set;
  impl_->key_set = requires_grad || is_view() ? keys.add(DispatchLayer::Autograd)
                                              : keys.remove(DispatchLayer::Autograd);
  return *this;
}

const Tensor& Tensor::requires_grad_(bool requires_grad) const {
  return set_requires_grad(requires_grad);
}
const IntrusivePtr<autograd::Node>& Tensor::grad_fn() const {
  tenon::defined(*this, "grad_fn");
  return autograd::grad_fn_of(*this);
}
bool Tensor::is_leaf() const { return !grad_fn(); }
int64_t Tensor::output_nr() const {
  tenon::defined(*this, "output_nr");
  const bool has_node = static_cast<bool>(autograd::grad_fn_of(*this));
  return has_node ? impl_->autograd_meta.load()->output_nr : 0;
}

bool Tensor::retains_grad() const {
  const AutogradMeta* meta = tenon::defined(*this, "retains_grad").autograd_meta;
  return meta && meta->retains_grad;
}

void Tensor::retain_grad() const {
  TENON_CHECK(requires_grad(), "can't retain_grad on Tensor that has requires_grad=False");
  if (is_leaf() || retains_grad()) return;
  AutogradMeta& meta = meta_of(*impl_);
  autograd::retain_grad_of(meta, *meta.grad_fn, meta.output_nr);
  meta.retains_grad = true;
}

Tensor Tensor::detach() const {
  if (TENON_UNLIKELY(tenon::defined(*this, "detach").batched))
    return autograd::batched_like(*this, batching::value_of_all_levels(*this).detach());
  return Tensor(detached(*this));
}

Tensor& Tensor::detach_() const {
  TENON_CHECK(!is_view(), "Can't detach views in-place. Use detach() instead.");
  if (AutogradMeta* meta = impl_->autograd_meta) {
    meta->grad_fn.reset();
    meta->output_nr = 0;
    meta->requires_grad = false;
  }
  impl_->key_set = impl_->key_set.remove(DispatchLayer::Autograd);
  return const_cast<Tensor&>(*this);
}

Tensor Tensor::data() const {
  if (TENON_UNLIKELY(impl_ && impl_->batched))
    return autograd::batched_like(*this, batching::value_of_all_levels(*this).data());
  Tensor copy(detach());
  copy.impl_->count_version_apart();
  return copy;
}

void Tensor::set_data(const Tensor& other) const {
  TENON_CHECK(other.device().is_meta() == device().is_meta(), "[set_data] expected a tensor on ",
              device(), ", got ", other.device());
  TENON_CHECK(
      !requires_grad() || is_differentiable(other.scalar_type()),
      "data set to a tensor that requires gradients must be floating point or complex dtype, "
      "got ",
      other.scalar_type());
  TENON_CHECK(other.layout() == layout(), "[set_data] expected a tensor of layout ", layout(),
              ", got ", other.layout());
  impl_->storage = other.impl_->storage;
  impl_->storage_offset = other.impl_->storage_offset;
  impl_->dtype = other.impl_->dtype;
  impl_->device = other.impl_->device;
  impl_->is_conj = other.impl_->is_conj;
  impl_->is_neg = other.impl_->is_neg;
  impl_->key_set.backends = other.impl_->key_set.backends;
  impl_->set_sizes_and_strides(other.sizes(), other.strides());
  impl_->refresh_data();
  if (impl_->sparse) {
    *impl_->sparse = *other.impl_->sparse;
    impl_->contiguous = false;
  }
  if (AutogradMeta* meta = impl_->autograd_meta) {
    const std::lock_guard lock(meta->accumulator_lock);
    if (meta->accumulator) meta->accumulator->leaf_has_changed(*this);
  }
}

Tensor Tensor::_base() const { return is_view() ? Tensor(impl_->base) : Tensor(); }

unsigned Tensor::register_hook(std::function<Tensor(const Tensor&)> hook) const {
  return autograd::register_hook(*this, std::move(hook)).id();
}

void Tensor::remove_hook(unsigned id) const {
  const AutogradMeta* meta = tenon::defined(*this, "remove_hook").autograd_meta;
  autograd::TensorHooks* hooks = meta ? meta->hooks.get() : nullptr;
  size_t count = 0;
  if (hooks) {
    std::unique_lock lock(hooks->handles_mutex);
    std::vector<autograd::HookHandle>& handles = hooks->handles;
    count = handles.size();
    const auto found = std::find_if(handles.begin(), handles.end(),
                                    [id](const auto& handle) { return handle.id() == id; });
    if (found != handles.end()) {
      const autograd::HookHandle handle = *found;
      handles.erase(found);
      lock.unlock();
      handle.remove();
      return;
    }
  }
  tenon::detail::raise<IndexError>("[remove_hook] Invalid index ", id, ": this tensor has ", count,
                                   " hooks");
}

namespace autograd {

HookHandle register_hook(const Tensor& tensor, TensorHook hook) {
  tenon::defined(tensor, "register_hook");
  TENON_CHECK(tensor.requires_grad(),
              "cannot register a hook on a tensor that doesn't require gradient");
  const IntrusivePtr<Node> node = tensor.grad_fn();
  AutogradMeta& meta = meta_of(*tensor.unsafe_impl());
  TensorHooks& hooks = meta.hooks.get_or_make();
  HookHandle handle = node ? node->hooks().on_tensors.add({meta.output_nr, std::move(hook)})
                           : hooks.on_grad.add(std::move(hook));
  const std::lock_guard lock(hooks.handles_mutex);
  // Those of graphs that have gone go when the list would have to grow.
  if (hooks.handles.size() == hooks.handles.capacity())
    std::erase_if(hooks.handles, [](const HookHandle& h) { return !h.is_active(); });
  hooks.handles.push_back(handle);
  return handle;
}

}  // namespace autograd
}  // namespace tenon

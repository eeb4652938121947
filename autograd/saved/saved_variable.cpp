#include "autograd/saved/saved_variable.h"

#include "aten/core/python_object.h"
#include "aten/core/thread_state.h"
#include "autograd/messages.h"
#include "autograd/views/view_history.h"

namespace tenon::autograd {

/// What hooks made of a tensor, and where the tensor's own gradient goes.
struct PackedTensor {
  RefCount refs;
  std::shared_ptr<const SavedTensorHooks> hooks;
  std::any data;
  Edge edge;  // of an input

  static void destroy(PackedTensor* packed) noexcept { delete packed; }
};

namespace {

/// A tensor with the data of `t` and a count of changes of its own.
Tensor with_own_version(const Tensor& t) {
  Tensor copy(detached(t));
  copy.unsafe_impl()->count_version_apart();
  return copy;
}

PackedTensor* pack(std::shared_ptr<const SavedTensorHooks> hooks, const Tensor& tensor, Edge edge) {
  auto* packed = new PackedTensor;
  auto owner = IntrusivePtr<PackedTensor>::adopt(packed);
  packed->edge = std::move(edge);
  const NoGradGuard no_grad;
  const uint32_t version = tensor.unsafe_impl()->version();
  packed->data = hooks->pack(tensor);
  TENON_CHECK(tensor.unsafe_impl()->version() == version, messages::kPackHookChangedItsInput);
  packed->hooks = std::move(hooks);
  return owner.detach();
}

}  // namespace

SavedVariable SavedVariable::before_change_of(const Tensor& written, const Tensor& tensor) {
  const TensorImpl* a = written.unsafe_impl();
  const TensorImpl* b = tensor.unsafe_impl();
  const auto root = [](const TensorImpl* impl) { return impl->base ? impl->base.get() : impl; };
  const bool dies =
      b && (root(a) == root(b) ||
            (root(a)->shared_version && root(a)->shared_version == root(b)->shared_version));
  if (TENON_LIKELY(!dies) || saved_tensor_hooks) return SavedVariable(tensor);
  SavedVariable saved;
  saved.was_defined_ = true;
  saved.is_own_result_ = true;  // as the message about the change will have it
  saved.output_nr_ = 0;
  saved.version_ = b->version();
  saved.held_ = IntrusivePtr<TensorImpl>::share(Tensor(detached(tensor)).unsafe_impl()).detach();
  return saved;
}

void SavedVariable::save_packed(const Tensor& tensor) {
  if (tensor.is_inference()) refuse_inference_tensor();
  check_saved_tensor_hooks_are_enabled();
  if (tensor.is_wrapped_number()) return keep_input(tensor);
  held_ = pack(saved_tensor_hooks->hooks_, tensor, gradient_edge(tensor));
  is_packed_ = true;
}

void SavedVariable::save_result(const Tensor& tensor, const Node& node) {
  is_own_result_ = true;
  const TensorImpl& impl = *tensor.unsafe_impl();
  const AutogradMeta* meta = impl.autograd_meta;
  had_grad_fn_ = meta && meta->grad_fn;
  if (had_grad_fn_) {
    output_nr_ = static_cast<uint16_t>(meta->output_nr);
    // The node of a view that was written is that of reading it from its base.
    is_written_view_ = impl.base && meta->grad_fn.get() != &node;
  }
  Tensor data(detached(tensor));
  if (TENON_UNLIKELY(saved_tensor_hooks != nullptr)) {
    check_saved_tensor_hooks_are_enabled();
    held_ = pack(saved_tensor_hooks->hooks_, data, {});
    is_packed_ = true;
    return;
  }
  version_ = data.unsafe_impl()->version();
  held_ = IntrusivePtr<TensorImpl>::share(data.unsafe_impl()).detach();
}

void SavedVariable::register_hooks(SavedTensorHooks hooks, const Node& saved_for) {
  TENON_CHECK(!is_packed_, messages::kHooksAreSetAlready);
  TENON_CHECK(held_ || !was_defined_, messages::kHooksOnWhatWasFreed);
  TENON_CHECK(was_defined_, messages::kHooksOnNothing);
  const Tensor data(IntrusivePtr<TensorImpl>::share(static_cast<TensorImpl*>(held_)));
  void* packed =
      pack(std::make_shared<const SavedTensorHooks>(std::move(hooks)),
           is_own_result_ ? data : data.detach(), is_own_result_ ? Edge() : gradient_edge(data));
  const std::lock_guard lock(saved_for.saved_lock());
  reset();
  held_ = packed;
  is_packed_ = true;
}

void SavedVariable::reset_packed() noexcept {
  IntrusivePtr<PackedTensor>::adopt(static_cast<PackedTensor*>(held_));
}

size_t SavedVariable::nbytes() const {
  if (!held_ || is_packed_) return 0;
  const auto& impl = *static_cast<const TensorImpl*>(held_);
  return static_cast<size_t>(impl.numel) * element_size(impl.dtype);
}

std::string SavedVariable::summary() const {
  if (!was_defined_) return "none";
  if (!held_) return "freed";
  if (is_packed_) return "kept by hooks";
  const auto& impl = *static_cast<const TensorImpl*>(held_);
  return tenon::detail::concat(impl.dtype, IntArrayRef(impl.sizes), " version ", impl.version());
}

void SavedVariable::refuse_inference_tensor() {
  tenon::detail::raise<Error>(messages::kSavedInferenceTensor);
}

void SavedVariable::was_modified(const Tensor& data, const Node& saved_for) const {
  std::string what;
  if (is_own_result_) {
    what = tenon::detail::concat(", which is output ", output_nr_, " of ",
                                 messages::operation_of(saved_for), ",");
  } else if (const IntrusivePtr<Node> node = grad_fn_of(data)) {
    what = tenon::detail::concat(", which is output ", data.output_nr(), " of ",
                                 messages::operation_of(*node), ",");
  }
  messages::saved_tensor_was_modified(data, what, version_);
}

/// `data` with the history of the operation's own result.
Tensor SavedVariable::attached(const Tensor& data, const Node& saved_for) const {
  Tensor result(detached(data));
  if (const AutogradMeta* meta = data.unsafe_impl()->autograd_meta; meta && meta->forward_grad) {
    ForwardGrad& own = meta_of(*result.unsafe_impl()).forward_grad.get_or_make();
    own.tangent = meta->forward_grad->tangent;
    own.level = meta->forward_grad->level;
  }
  if (is_written_view_) {
    attach_to_running_copy_slices(result);
  } else {
    set_grad_fn(*result.unsafe_impl(), IntrusivePtr<Node>::share(const_cast<Node*>(&saved_for)),
                output_nr_);
  }
  return result;
}

Tensor SavedVariable::unpack_packed(const Node& saved_for,
                                    IntrusivePtr<PackedTensor> packed) const {
  Tensor data;
  {
    const NoGradGuard no_grad;
    data = packed->hooks->unpack(packed->data);
  }
  TENON_CHECK_TYPE(data.defined(), messages::kUnpackGaveNoTensor);
  data = with_own_version(data);
  if (is_own_result_) {
    return had_grad_fn_ && GradMode::is_enabled() ? attached(data, saved_for) : data;
  }
  // A leaf's accumulator serves as the node as well.
  if (packed->edge.is_valid()) {
    set_grad_fn(*data.unsafe_impl(), packed->edge.function, packed->edge.input_nr);
  }
  return data;
}

Tensor SavedVariable::unpack(const Node& saved_for) const {
  Tensor data;
  {
    std::unique_lock lock(saved_for.saved_lock());
    if (TENON_UNLIKELY(is_packed_) && held_) {
      auto packed = IntrusivePtr<PackedTensor>::share(static_cast<PackedTensor*>(held_));
      lock.unlock();
      return unpack_packed(saved_for, std::move(packed));
    }
    data = Tensor(IntrusivePtr<TensorImpl>::share(static_cast<TensorImpl*>(held_)));
  }
  if (TENON_UNLIKELY(!data.defined())) {
    if (was_defined_) messages::graph_was_freed();
    return data;
  }
  const TensorImpl& impl = *data.unsafe_impl();
  if (TENON_UNLIKELY(impl.version() != version_)) was_modified(data, saved_for);
  if (!is_own_result_) {
    TENON_CHECK(!had_grad_fn_ || has_grad_fn(impl), messages::kDetachedInPlace);
    return data;
  }
  return had_grad_fn_ && GradMode::is_enabled() ? attached(data, saved_for) : data;
}

}  // namespace tenon::autograd

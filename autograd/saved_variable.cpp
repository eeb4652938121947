#include "autograd/saved_variable.h"

#include "aten/core/thread_state.h"
#include "autograd/view.h"

namespace tenon::autograd {
namespace {

[[noreturn]] TENON_COLD void graph_was_freed() {
  detail::raise<Error>(
      "Trying to backward through the graph a second time (or directly access saved tensors after "
      "they "
      "have already been freed). Saved intermediate values of the graph are freed when you call "
      ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through "
      "the "
      "graph a second time or if you need to access saved tensors after calling backward.");
}

}  // namespace

void SavedVariable::save_result(const Tensor& tensor) {
  is_own_result_ = true;
  data_ = Tensor(make_detached(tensor));
  version_ = data_.unsafe_impl()->version();
  const TensorImpl& impl = *tensor.unsafe_impl();
  had_grad_fn_ = impl.autograd_meta && impl.autograd_meta->grad_fn;
  if (!had_grad_fn_) return;
  output_nr_ = static_cast<uint16_t>(impl.autograd_meta->output_nr);
  is_written_view_ = static_cast<bool>(impl.base);
}

void SavedVariable::was_modified(const Tensor& data, const Node& saved_for) const {
  std::string what;
  if (is_own_result_) {
    what = detail::concat(", which is output ", output_nr_, " of ", saved_for.name(), ",");
  } else if (const auto& node = grad_fn_of(data)) {
    what = detail::concat(", which is output ", data.output_nr(), " of ", node->name(), ",");
  }
  detail::raise<Error>("one of the variables needed for gradient computation has been modified by "
                       "an inplace operation: [",
                       data.is_cuda() ? "torch.cuda." : "torch.", data.scalar_type(), "Tensor ",
                       data.sizes(), "]", what, " is at version ", data._version(),
                       "; expected version ", version_,
                       " instead. Hint: the operation that changed it in place came after it was "
                       "used here; change a "
                       "clone(), or use the operation that is not in place.");
}

Tensor SavedVariable::unpack(const Node& saved_for) const {
  Tensor data;
  {
    const Node::Lock lock(saved_for);
    data = data_;
  }
  if (TENON_UNLIKELY(!data.defined())) {
    if (was_defined_) graph_was_freed();
    return data;
  }
  const TensorImpl& impl = *data.unsafe_impl();
  if (TENON_UNLIKELY(impl.version() != version_)) was_modified(data, saved_for);
  if (!is_own_result_) {
    TENON_CHECK(
        !had_grad_fn_ || impl.autograd_meta->grad_fn,
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_(). "
        "This is not supported, please use out-of-place `.detach()` instead");
    return data;
  }
  if (!had_grad_fn_ || !GradMode::is_enabled()) return data;
  Tensor attached(make_detached(data));
  if (is_written_view_) {
    attach_to_running_copy_slices(attached);
  } else {
    set_grad_fn(*attached.unsafe_impl(), IntrusivePtr<Node>::share(const_cast<Node*>(&saved_for)),
                output_nr_);
  }
  return attached;
}

}  // namespace tenon::autograd

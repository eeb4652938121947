#include "autograd/saved_variable.h"

#include "aten/core/thread_state.h"
#include "autograd/meta.h"

namespace tenon::autograd {
namespace {

[[noreturn]] void graph_was_freed() {
  detail::raise<Error>(
      "Trying to backward through the graph a second time (or directly access saved tensors after they "
      "have already been freed). Saved intermediate values of the graph are freed when you call "
      ".backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the "
      "graph a second time or if you need to access saved tensors after calling backward.");
}

[[noreturn]] void was_modified(const Tensor& t, const std::string& what, uint32_t saved) {
  detail::raise<Error>(
      "one of the variables needed for gradient computation has been modified by an inplace operation: [",
      t.is_cuda() ? "torch.cuda." : "torch.", t.scalar_type(), "Tensor ", t.sizes(), "]", what,
      " is at version ", t._version(), "; expected version ", saved,
      " instead. Hint: the operation that changed it in place came after it was used here; change a "
      "clone(), or use the operation that is not in place.");
}

}  // namespace

SavedVariable::SavedVariable(const Tensor& tensor, bool is_own_result) {
  if (!tensor.defined()) return;
  was_defined_ = true;
  is_own_result_ = is_own_result;
  version_ = static_cast<uint32_t>(tensor._version());
  if (!is_own_result) {
    data_ = tensor;
    return;
  }
  data_ = Tensor(make_detached(tensor));
  requires_grad_ = tensor.requires_grad();
  if (requires_grad_) output_nr_ = meta_of(*tensor.unsafe_impl()).output_nr;
}

Tensor SavedVariable::unpack(const Node& saved_for) const {
  if (!data_.defined()) {
    if (was_defined_) graph_was_freed();
    return {};
  }
  if (TENON_UNLIKELY(static_cast<uint32_t>(data_._version()) != version_)) {
    std::string what;
    if (is_own_result_) {
      what = detail::concat(", which is output ", output_nr_, " of ", saved_for.name(), ",");
    } else if (const auto& node = grad_fn_of(data_)) {
      what = detail::concat(", which is output ", meta_of(*data_.unsafe_impl()).output_nr, " of ",
                            node->name(), ",");
    }
    was_modified(data_, what, version_);
  }
  if (!is_own_result_ || !requires_grad_ || !GradMode::is_enabled()) return data_;
  Tensor attached(make_detached(data_));
  AutogradMeta& meta = meta_of(*attached.unsafe_impl());
  meta.grad_fn = IntrusivePtr<Node>::share(const_cast<Node*>(&saved_for));
  meta.output_nr = output_nr_;
  TensorImpl& impl = *attached.unsafe_impl();
  impl.key_set = impl.key_set.add(DispatchLayer::Autograd);
  return attached;
}

}  // namespace tenon::autograd

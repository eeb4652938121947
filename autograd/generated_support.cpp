#include "autograd/generated_support.h"

#include "autograd/view.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::autograd {

void set_history(const Tensor& tensor, IntrusivePtr<Node> node) {
  if (!tensor.defined()) return;
  TensorImpl& impl = *tensor.unsafe_impl();
  const uint32_t number = node->add_input_metadata(tensor);
  if (!is_differentiable(impl.dtype)) return;
  AutogradMeta& meta = meta_of(impl);
  meta.grad_fn = std::move(node);
  meta.output_nr = number;
  meta.requires_grad = false;
  impl.key_set = impl.key_set.add(DispatchLayer::Autograd);
  if (impl.base) impl.history_version = impl.version();
}

void rebase_history(const Tensor& tensor, IntrusivePtr<Node> node) {
  TensorImpl& impl = *tensor.unsafe_impl();
  if (impl.base) {
    rebase_view_history(tensor, std::move(node));
    return;
  }
  // A tensor whose gradient is kept wants that of its new value from here on.
  const bool retained = impl.autograd_meta && impl.autograd_meta->retains_grad;
  if (retained) impl.autograd_meta->retains_grad = false;
  set_history(tensor, std::move(node));
  if (retained) tensor.retain_grad();
}

void check_inplace(const Tensor& self, bool recorded) {
  if (!GradMode::is_enabled()) return;
  TensorImpl& impl = *self.unsafe_impl();
  const bool is_view = static_cast<bool>(impl.base);
  const bool involved = recorded || self.requires_grad();
  if (!involved) return;
  if (is_view) {
    const Tensor base(impl.base);
    switch (impl.creation_meta) {
      case CreationMeta::Default:
        break;
      case CreationMeta::NoGrad:
        detail::raise<Error>(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
            "Whether its base's gradient should follow cannot be known; make the view with grad mode "
            "enabled, or change it under no_grad.");
      case CreationMeta::MultiOutput: {
        const auto& node = grad_fn_of(self);
        detail::raise<Error>(
            "Output ", impl.autograd_meta ? impl.autograd_meta->output_nr : 0, " of ",
            node ? node->name() : "a function",
            " is a view and is being modified inplace. This view is the output of a function that "
            "returns multiple views. Such functions do not allow the output views to be modified "
            "inplace. You should replace the inplace operation by an out-of-place one.");
      }
      case CreationMeta::CustomFunction:
        detail::raise<Error>(
            "A view made inside a custom Function is being modified inplace. Return a clone() of it.");
    }
    if (base.requires_grad() && base.is_leaf()) {
      detail::raise<Error>(
          "a view of a leaf Variable that requires grad is being used in an in-place operation.");
    }
    return;
  }
  if (self.requires_grad() && self.is_leaf()) {
    detail::raise<Error>("a leaf Variable that requires grad is being used in an in-place operation.");
  }
}

Tensor defined_or_zeros(const variable_list& grads, size_t i) {
  if (grads[i].defined()) return grads[i];
  for (const Tensor& g : grads) {
    if (g.defined()) return zeros_like(g);
  }
  return {};
}

void check_not_recorded(const char* op, const Tensor& self) {
  TENON_CHECK(!compute_requires_grad(self), "[", op,
              "] has no derivative, so it cannot change a tensor that requires grad in place; use it on "
              "detach(), or under no_grad.");
}

void throw_out_requires_grad(const char* op) {
  detail::raise<Error>(op, "(): functions with out=... arguments don't support automatic differentiation, "
                           "but one of the arguments requires grad.");
}

void mark_multi_output_views(const std::vector<Tensor>& views) {
  for (const Tensor& view : views) {
    if (view.is_view() && view.unsafe_impl()->creation_meta == CreationMeta::Default) {
      view.unsafe_impl()->creation_meta = CreationMeta::MultiOutput;
    }
  }
}

Tensor not_implemented(const char* what) {
  detail::raise<NotImplementedError>("derivative for ", what, " is not implemented");
}

}  // namespace tenon::autograd

#include "autograd/generated_support/generated_support.h"

#include "autograd/messages.h"
#include "autograd/tools/anomaly.h"
#include "autograd/views/view_history.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::autograd {

void set_history(const Tensor& tensor, IntrusivePtr<Node> node) {
  if (TENON_UNLIKELY(AnomalyMode::is_enabled())) keep_calls_of(*node);
  const uint32_t number = node->add_input_metadata(tensor);
  if (!tensor.defined() || !is_differentiable(tensor.unsafe_impl()->dtype)) return;
  set_grad_fn(*tensor.unsafe_impl(), std::move(node), number);
}

void rebase_history(const Tensor& tensor, IntrusivePtr<Node> node) {
  if (TENON_UNLIKELY(tensor.unsafe_impl()->base)) {
    rebase_view_history(tensor, std::move(node));
  } else {
    set_history(tensor, std::move(node));
  }
}

void check_inplace(const Tensor& self, bool recorded) {
  if (!GradMode::is_enabled()) return;
  const bool requires_grad = needs_grad(self);
  if (!recorded && !requires_grad) return;
  const TensorImpl& impl = *self.unsafe_impl();
  if (TENON_UNLIKELY(impl.base)) {
    check_view_may_be_written(self, false);
    const Tensor base(impl.base);
    // A base that was detached has no history that the view's could become a part of.
    TENON_CHECK(!(requires_grad || needs_grad(base)) || !base.is_leaf(),
                messages::kViewOfLeafInPlace);
  }
  TENON_CHECK(!requires_grad || !self.is_leaf(), messages::kLeafInPlace);
}

Tensor defined_or_zeros(const variable_list& grads, size_t i) {
  if (grads[i].defined()) return grads[i];
  for (const Tensor& g : grads) {
    if (g.defined()) return zeros_like(g);
  }
  return {};
}

void check_needs_no_derivative(const char* op, const Tensor& self) {
  TENON_CHECK(!compute_requires_grad(self), "[", op,
              "] has no derivative, so it cannot change a tensor that requires grad in place; use "
              "it on detach(), or under no_grad.");
}

namespace {

/// Of numbers that depend on nothing that gradients go to.
class Constant final : public Node {
 public:
  explicit Constant(const char* name) : name_(name) {}
  std::string name() const override { return name_; }
  variable_list apply(variable_list&& grads) override {
    variable_list grad_inputs(1);
    if (grads[0].defined()) grad_inputs[0] = zeros_like(grads[0]);
    return grad_inputs;
  }

 private:
  const char* const name_;
};

}  // namespace

void set_constant_history(const char* node_name, const Tensor& self) {
  auto node = make_node<Constant>(node_name);
  set_edges(*node, self);
  rebase_history(self, std::move(node));
}

void throw_out_requires_grad(const char* op) {
  detail::raise<Error>(
      op, "(): functions with out=... arguments don't support automatic differentiation, "
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

// The autograd layer of operators that were defined at run time and have no kernel for it.
#include <algorithm>

#include "aten/dispatch/registration.h"
#include "autograd/generated_support/generated_support.h"

namespace tenon::autograd {
namespace {

/// Makes a backward pass that needs the operator's derivative an error.
class NotImplemented final : public Node {
 public:
  explicit NotImplemented(std::string op) : op_(std::move(op)) {}
  std::string name() const override { return "NotImplemented"; }
  variable_list apply(variable_list&&) override { not_implemented(op_.c_str()); }

 private:
  std::string op_;
};

/// The defined tensors of some values, lists included.
variable_list tensors_of(const Value* begin, const Value* end) {
  variable_list tensors;
  for (const Value* v = begin; v != end; ++v) {
    if (v->is_tensor()) tensors.push_back(Tensor(v->to_tensor()));
    if (!v->is_tensor_list()) continue;
    for (const TensorBase& t : v->to_tensors()) {
      if (t.defined()) tensors.push_back(Tensor(t));
    }
  }
  return tensors;
}

bool is_among(const variable_list& list, const Tensor& t) {
  return std::any_of(list.begin(), list.end(),
                     [&](const Tensor& other) { return other.is_same(t); });
}

void run_recorded(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
  const auto schema = schema_of(op);
  const size_t first = stack.size() - schema->args.size();
  const variable_list inputs = tensors_of(stack.data() + first, stack.data() + stack.size());
  variable_list written;
  for (size_t i = 0; i < schema->args.size(); ++i) {
    if (!schema->args[i].is_mutable()) continue;
    for (const Tensor& t : tensors_of(&stack[first + i], &stack[first + i] + 1)) {
      written.push_back(t);
    }
  }
  const bool recorded = compute_requires_grad(TensorList(inputs));
  for (const Tensor& t : written) check_inplace(t, recorded);
  IntrusivePtr<NotImplemented> node;
  if (recorded) {
    node = make_node<NotImplemented>(op.qualified_name());
    set_edges(*node, TensorList(inputs));
  }
  {
    const BelowAutograd below;
    detail::run_boxed_kernel(op, below_autograd(keys), stack);
  }
  if (!node) return;
  for (const Tensor& t : written) rebase_history(t, node);
  for (const Tensor& t : tensors_of(stack.data() + first, stack.data() + stack.size())) {
    if (is_among(written, t)) continue;
    TENON_CHECK(!is_among(inputs, t), "[", op.qualified_name(),
                "] a kernel returned an argument that its schema does not say it writes");
    set_history(t, node);
  }
}

[[maybe_unused]] const bool is_registered = [] {
  detail::set_autograd_of_runtime_operators(
      [](const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
        if (detail::runs_composite_implicit(op, keys)) {
          return detail::run_boxed_kernel(op, keys.remove(DispatchLayer::Autograd), stack);
        }
        run_recorded(op, keys, stack);
      });
  return true;
}();

}  // namespace
}  // namespace tenon::autograd

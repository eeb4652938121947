// Derivatives that are registered at run time, for operators that were defined there.
#include <algorithm>
#include <mutex>

#include "aten/dispatch/registration.h"
#include "aten/registration/derivative.h"
#include "autograd/generated_support/generated_support.h"

namespace tenon::autograd {
namespace {

/// One value as a node keeps it: a tensor, tensors, or what it is.
class SavedValue {
 public:
  /// An argument; not `kept`, it has no tensors.
  SavedValue(const Value& value, bool kept) : SavedValue(value, kept, nullptr) {}
  /// A result of the node.
  SavedValue(const Value& value, bool kept, const Node& node) : SavedValue(value, kept, &node) {}

  Value unpack(const Node& node) const {
    if (!is_list_) return tensors_.empty() ? plain_ : Value(tensors_[0].unpack(node));
    Value::Tensors list;
    for (const SavedVariable& one : tensors_) list.push_back(one.unpack(node));
    return list;
  }
  void reset() {
    for (SavedVariable& one : tensors_) one.reset();
  }

 private:
  SavedValue(const Value& value, bool kept, const Node* node) {
    if (!value.is_tensor() && !value.is_tensor_list()) {
      plain_ = value;
    } else if (kept) {
      is_list_ = value.is_tensor_list();
      const auto list = is_list_ ? value.to_tensors() : Value::Tensors{value.to_tensor()};
      for (const TensorBase& t : list) {
        if (node) {
          tensors_.emplace_back(Tensor(t), *node);
        } else {
          tensors_.emplace_back(Tensor(t));
        }
      }
    }
  }

  Value plain_;
  std::vector<SavedVariable> tensors_;
  bool is_list_ = false;
};

Value sizes_of(const Value& value) {
  return value.is_tensor() ? Value(value.to_tensor().sizes()) : Value();
}

size_t tensor_count(const Value& value) {
  return value.is_tensor_list() ? value.to_tensors().size() : value.is_tensor() ? 1 : 0;
}

/// The operator's node: an edge for each tensor of the arguments, an input for each of the results.
class DerivativeNode final : public Node {
 public:
  DerivativeNode(const OperatorEntry& op, std::shared_ptr<const BoxedDerivative> derivative)
      : op_(op), derivative_(std::move(derivative)) {}

  std::string name() const override {
    std::string name(op_.info->name);
    name = name.substr(name.find("::") + 2);
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
    return name + "Backward0";
  }

  void add_argument(const Value& value, size_t i) {
    if (value.is_tensor()) add_edge(*this, Tensor(value.to_tensor()));
    if (value.is_tensor_list()) {
      for (const TensorBase& t : value.to_tensors()) add_edge(*this, Tensor(t));
    }
    argument_counts_.push_back(tensor_count(value));
    argument_is_list_.push_back(value.is_tensor_list());
    argument_sizes_.push_back(sizes_of(value));
    arguments_.emplace_back(value, i < 64 && derivative_->saved_arguments >> i & 1);
  }
  /// After set_history() of the result's tensors.
  void add_result(const Value& value, size_t i) {
    result_counts_.push_back(tensor_count(value));
    result_is_list_.push_back(value.is_tensor_list());
    result_sizes_.push_back(sizes_of(value));
    results_.emplace_back(value, i < 64 && derivative_->saved_results >> i & 1, *this);
  }
  /// Which of the node's inputs each tensor of the results is; none for one without a gradient.
  void add_place(std::optional<size_t> place) { places_.push_back(place); }

  void release_variables() override {
    for (SavedValue& one : arguments_) one.reset();
    for (SavedValue& one : results_) one.reset();
  }

  variable_list apply(variable_list&& grads) override {
    Stack gradients;
    size_t at = 0;
    for (size_t i = 0; i < result_counts_.size(); ++i) {
      Value::Tensors list;
      for (size_t k = 0; k < result_counts_[i]; ++k, ++at)
        list.push_back(places_[at] ? TensorBase(grads[*places_[at]]) : TensorBase());
      if (result_is_list_[i]) {
        gradients.emplace_back(std::move(list));
      } else {
        gradients.emplace_back(list.empty() ? Value() : Value(list[0]));
      }
    }
    Stack arguments, results;
    for (const SavedValue& one : arguments_) arguments.push_back(one.unpack(*this));
    for (const SavedValue& one : results_) results.push_back(one.unpack(*this));
    std::vector<bool> wanted;
    size_t edge = 0;
    for (const size_t count : argument_counts_) {
      bool any = false;
      for (size_t k = 0; k < count; ++k) any |= task_should_compute_output(edge++);
      wanted.push_back(any);
    }
    const Stack given = derivative_->backward(
        {op_, gradients, results, arguments, wanted, argument_sizes_, result_sizes_});
    TENON_CHECK(given.size() == arguments_.size(), "[", op_.qualified_name(),
                "] backward must give one gradient for each of ", arguments_.size(),
                " arguments, it gave ", given.size());
    variable_list out;
    for (size_t i = 0; i < given.size(); ++i) add_gradients(given[i], i, out);
    return out;
  }

 private:
  void add_gradients(const Value& given, size_t i, variable_list& out) const {
    const size_t count = argument_counts_[i];
    if (given.is_none()) {
      for (size_t k = 0; k < count; ++k) out.push_back(Tensor());
      return;
    }
    const bool fits = argument_is_list_[i]
                          ? given.is_tensor_list() && given.to_tensors().size() == count
                          : given.is_tensor() && count == 1;
    TENON_CHECK_TYPE(fits, "[", op_.qualified_name(), "] backward must give ",
                     count == 0             ? "no gradient"
                     : argument_is_list_[i] ? detail::concat("a list of ", count, " tensors")
                                            : std::string("a tensor"),
                     " for argument ", i + 1, ", it gave ", given.type_name());
    if (given.is_tensor()) {
      out.push_back(Tensor(given.to_tensor()));
    } else {
      for (const TensorBase& t : given.to_tensors()) out.push_back(Tensor(t));
    }
  }

  const OperatorEntry& op_;
  const std::shared_ptr<const BoxedDerivative> derivative_;
  std::vector<SavedValue> arguments_, results_;
  Stack argument_sizes_, result_sizes_;
  std::vector<size_t> argument_counts_, result_counts_;
  std::vector<bool> argument_is_list_, result_is_list_;
  std::vector<std::optional<size_t>> places_;
};

bool needs_gradient(const Stack& stack, size_t first) {
  if (!GradMode::is_enabled()) return false;
  for (size_t i = first; i < stack.size(); ++i) {
    if (stack[i].is_tensor() && needs_grad(Tensor(stack[i].to_tensor()))) return true;
    if (!stack[i].is_tensor_list()) continue;
    for (const TensorBase& t : stack[i].to_tensors()) {
      if (needs_grad(Tensor(t))) return true;
    }
  }
  return false;
}

void record(DerivativeNode& node, const IntrusivePtr<Node>& shared, const Stack& stack,
            size_t first) {
  for (size_t i = first; i < stack.size(); ++i) {
    const Value& value = stack[i];
    const auto list = value.is_tensor_list() ? value.to_tensors()
                      : value.is_tensor()    ? Value::Tensors{value.to_tensor()}
                                             : Value::Tensors{};
    for (const TensorBase& t : list) {
      const size_t before = node.num_inputs();
      if (t.defined()) set_history(Tensor(t), shared);
      node.add_place(node.num_inputs() > before ? std::optional(before) : std::nullopt);
    }
    node.add_result(value, i - first);
  }
}

BoxedKernel make_recorded(BoxedDerivative derivative) {
  return [shared = std::make_shared<const BoxedDerivative>(std::move(derivative))](
             const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
    const auto schema = schema_of(op);
    const size_t first = stack.size() - schema->args.size();
    IntrusivePtr<DerivativeNode> node;
    if (needs_gradient(stack, first)) {
      TENON_CHECK_NOT_IMPLEMENTED(!schema->has_mutable_arg(), "[", op.qualified_name(),
                                  "] a derivative that was registered at run time is that of an "
                                  "operator that writes no argument");
      node = make_node<DerivativeNode>(op, shared);
      for (size_t i = first; i < stack.size(); ++i) node->add_argument(stack[i], i - first);
    }
    {
      const BelowAutograd below;
      redispatch_boxed(op, keys.remove(DispatchLayer::Autograd), stack);
    }
    if (node) record(*node, node, stack, first);
  };
}

[[maybe_unused]] const bool makes_recorded_kernels = [] {
  detail::set_maker_of_recorded_kernels(make_recorded);
  return true;
}();

}  // namespace
}  // namespace tenon::autograd

#pragma once

#include <any>
#include <typeinfo>
#include <unordered_map>

#include "aten/common/ivalue.h"
#include "aten/core/thread_state.h"
#include "autograd/forward/tangents.h"
#include "autograd/saved/saved_variable.h"

namespace tenon::autograd {

/// Numbers of arguments, from the first up to but without the second.
using IndexRange = std::pair<size_t, size_t>;

/// What the two halves of a custom Function share.
class TENON_API AutogradContext {
 public:
  /// Plain values to keep for backward. Tensors go through save_for_backward(), which checks that
  /// they are not changed and makes no cycles.
  std::unordered_map<std::string, IValue> saved_data;
  /// Anything else to keep for backward, but no tensors.
  std::any state;

  /// In forward: inputs or outputs to keep for backward.
  void save_for_backward(variable_list to_save) { to_save_ = std::move(to_save); }
  /// In forward: inputs or outputs to keep for jvp, which follows at once.
  void save_for_forward(variable_list to_save) { for_forward_ = std::move(to_save); }
  /// In backward: what was saved, in the same order. Throws if one has been changed in place since,
  /// or if the graph has been freed. In jvp: what save_for_forward() was given.
  variable_list get_saved_variables() const;
  /// In forward: inputs that it changes in place, which counts as one change of each. Each must be
  /// among its outputs.
  void mark_dirty(const variable_list& inputs) { dirty_ = inputs; }
  /// In forward: outputs that have no gradient.
  void mark_non_differentiable(const variable_list& outputs) { non_differentiable_ = outputs; }
  /// In forward: whether backward gets zeros where no gradient arrived, and jvp where an argument
  /// has no tangent (the default), or undefined tensors.
  void set_materialize_grads(bool materialize) { materialize_grads_ = materialize; }
  /// Whether the gradient of tensor argument i is wanted; elements of a list count one by one.
  bool needs_input_grad(size_t i) const;
  /// The same of any argument in the ranges.
  bool needs_input_grad(std::initializer_list<IndexRange> ranges) const;

 private:
  friend class FunctionNode;

  const Node* node_ = nullptr;
  variable_list to_save_;
  variable_list for_forward_;
  variable_list dirty_;
  variable_list non_differentiable_;
  std::vector<SavedVariable> saved_;
  bool materialize_grads_ = true;
  bool in_jvp_ = false;
};

/// The node of a custom Function.
class TENON_API FunctionNode : public Node {
 public:
  using Derivative = variable_list (*)(AutogradContext*, variable_list);

  /// Around forward: nothing in it is recorded, or has tangents.
  class Forward {
    NoGradGuard no_grad_;
    forward_ad::SuspendedLevel no_tangents_;
  };

  /// `jvp`: null if there is none.
  FunctionNode(Derivative backward, Derivative jvp, const std::type_info& type)
      : backward_(backward), jvp_(jvp), type_(type) {
    context_.node_ = this;
  }
  /// "SquareBackward" for `struct Square : Function<Square>`.
  std::string name() const override;
  variable_list apply(variable_list&& grads) override;
  void release_variables() override {
    for (auto& s : context_.saved_) s.reset();
  }
  std::vector<SavedEntry> saved() const override {
    return {{"tensors", SavedKind::TensorList, &context_.saved_, this}};
  }

  AutogradContext& context() { return context_; }
  const AutogradContext& context() const { return context_; }
  void add_input(const Tensor& t);
  void add_input(const std::optional<Tensor>& t) { add_input(t ? *t : Tensor()); }
  void add_input(TensorList list) {
    for (const Tensor& t : list) add_input(t);
  }
  void add_input(const std::vector<Tensor>& list) { add_input(TensorList(list)); }
  void add_input(const variable_list& list) { add_input(TensorList(list)); }
  /// An argument that is no tensor: backward gives an undefined tensor for it.
  template <class T>
  void add_input(const T&) {
    is_tensor_.push_back(false);
  }
  /// The name of the function, "Square": by default that of the type.
  virtual std::string function_name() const;
  /// After forward: gives its results their history and tangents, and keeps what was saved.
  void record(variable_list& outputs);

 private:
  void record_output(Tensor& output, size_t differentiable_outputs);
  void record_again(const Tensor& output);
  void save(const variable_list& outputs);
  void push_tangents(const variable_list& returned, const variable_list& outputs);
  void check_tangent_of_change(const Tensor& output, const Tensor& tangent,
                               const variable_list& tangents,
                               const std::vector<uint32_t>& versions) const;
  void check_tangent_of_view(const Tensor& output, const Tensor& tangent) const;

  Derivative backward_;
  Derivative jvp_;
  const std::type_info& type_;
  AutogradContext context_;
  variable_list inputs_;         // only until record() is through
  std::vector<bool> is_tensor_;  // of each argument
  bool recorded_ = false;
};

/// An operation with a backward of its own. T has
///   static Tensor forward(AutogradContext*, arguments...);   // or variable_list
///   static variable_list backward(AutogradContext*, variable_list grad_outputs);
/// and is called as T::apply(arguments...). forward() is not recorded. backward() gives one
/// gradient for each argument, undefined for those that are no tensors or need none; made of
/// operators, it can be differentiated itself. For forward mode (docs/modes.md) T has also
///   static variable_list jvp(AutogradContext*, variable_list tangents);
/// which is called after forward() with one tangent for each argument, undefined for those that are
/// no tensors, and gives one for each output: a view of the input's for a view of an input, the
/// input's own, changed, for an input that is dirty.
template <class T>
struct Function {
  template <class... Args>
  static auto apply(Args&&... args) {
    FunctionNode::Derivative jvp = nullptr;
    if constexpr (requires { &T::jvp; }) jvp = &T::jvp;
    const auto node = make_node<FunctionNode>(&T::backward, jvp, typeid(T));
    (node->add_input(args), ...);
    auto result = [&] {
      const FunctionNode::Forward scope;
      return T::forward(&node->context(), std::forward<Args>(args)...);
    }();
    using Result = decltype(result);
    variable_list outputs;
    if constexpr (std::is_convertible_v<Result, Tensor>) {
      outputs.push_back(std::move(result));
      node->record(outputs);
      return Tensor(std::move(outputs[0]));
    } else {
      outputs.append(result.begin(), result.end());
      node->record(outputs);
      return Result(outputs.begin(), outputs.end());
    }
  }
};

}  // namespace tenon::autograd

#pragma once

#include <type_traits>

#include "aten/core/python_object.h"
#include "aten/core/thread_state.h"
#include "aten/core/true_quotient.h"
#include "aten/dispatch/list_element.h"
#include "autograd/forward/forward_ad.h"
#include "autograd/generated_support/operator_node.h"
#include "autograd/meta.h"

/// What generated wrappers and nodes call.
namespace tenon::autograd {

inline bool needs_grad(const Tensor& t) {
  const TensorImpl* impl = t.unsafe_impl();
  if (!impl) return false;
  if (TENON_LIKELY(has_current_history(*impl))) {
    const AutogradMeta* meta = impl->autograd_meta;
    // An inference tensor is no reason to record, though it may be a leaf that requires grad.
    if (meta && (meta->grad_fn || meta->requires_grad)) return !impl->is_inference;
  }
  return TENON_UNLIKELY(impl->base) && t.requires_grad();
}
inline bool needs_grad(const std::optional<Tensor>& t) { return t && needs_grad(*t); }
inline bool needs_grad(TensorList list) {
  for (const Tensor& t : list) {
    if (needs_grad(t)) return true;
  }
  return false;
}
inline bool needs_grad(ArrayRef<std::optional<Tensor>> list) {
  for (const auto& t : list) {
    if (needs_grad(t)) return true;
  }
  return false;
}

using native::true_quotient;   // `a / b` in formulas
using native::true_remainder;  // `a % b`

/// Whether a call with these inputs is recorded.
template <class... Inputs>
bool compute_requires_grad(const Inputs&... inputs) {
  return GradMode::is_enabled() && (needs_grad(inputs) || ...);
}

inline void add_edge(Node& node, const Tensor& t) {
  const TensorImpl* impl = t.unsafe_impl();
  if (!impl || !(impl->autograd_meta || impl->base)) {
    node.add_next_edge({});
    return;
  }
  node.add_next_edge(gradient_edge(t));
}
inline void add_edge(Node& node, const std::optional<Tensor>& t) {
  add_edge(node, t ? *t : Tensor());
}
inline void add_edge(Node& node, TensorList list) {
  for (const Tensor& t : list) add_edge(node, t);
}
/// One edge for each tensor, in order; nowhere for those that need no gradient.
template <class... Inputs>
void set_edges(Node& node, const Inputs&... inputs) {
  (add_edge(node, inputs), ...);
}

/// The tensor is now a result of the node. Tensors that cannot be differentiated stay as they are.
TENON_API void set_history(const Tensor& tensor, IntrusivePtr<Node> node);
inline void set_history(const std::vector<Tensor>& tensors, const IntrusivePtr<Node>& node) {
  for (const Tensor& t : tensors) set_history(t, node);
}
/// The same after a change in place, which for a view changes its base too.
TENON_API void rebase_history(const Tensor& tensor, IntrusivePtr<Node> node);

/// Throws if `self` may not be changed in place: a leaf that requires grad, a view of one, or a
/// view made in a way that forbids it. `recorded`: the change takes part in a gradient.
TENON_API void check_inplace(const Tensor& self, bool recorded);
/// "add(): functions with out=... arguments don't support automatic differentiation, but one of
/// the arguments requires grad."
[[noreturn]] TENON_API void throw_out_requires_grad(const char* op);
/// Marks the results of an operator that returns several views of one tensor.
TENON_API void mark_multi_output_views(const std::vector<Tensor>& views);

inline SavedVariable save_input(const Tensor& t) { return SavedVariable(t); }
inline SavedVariable save_input(const std::optional<Tensor>& t) {
  return t ? SavedVariable(*t) : SavedVariable();
}
inline std::vector<SavedVariable> save_input(TensorList list) {
  std::vector<SavedVariable> saved;
  for (const Tensor& t : list) saved.emplace_back(t);
  return saved;
}
inline std::vector<SavedVariable> save_input(ArrayRef<std::optional<Tensor>> list) {
  std::vector<SavedVariable> saved;
  for (const auto& t : list) saved.push_back(save_input(t));
  return saved;
}
/// The same for an operation that changes `written` in place.
inline SavedVariable save_input_before_change_of(const Tensor& written, const Tensor& t) {
  return SavedVariable::before_change_of(written, t);
}
inline SavedVariable save_input_before_change_of(const Tensor& written,
                                                 const std::optional<Tensor>& t) {
  return t ? SavedVariable::before_change_of(written, *t) : SavedVariable();
}
inline std::vector<SavedVariable> save_input_before_change_of(const Tensor& written,
                                                              TensorList list) {
  std::vector<SavedVariable> saved;
  for (const Tensor& t : list) saved.push_back(SavedVariable::before_change_of(written, t));
  return saved;
}
inline std::vector<SavedVariable>
save_input_before_change_of(const Tensor& written, ArrayRef<std::optional<Tensor>> list) {
  std::vector<SavedVariable> saved;
  for (const auto& t : list) saved.push_back(save_input_before_change_of(written, t));
  return saved;
}
inline SavedVariable save_result(const Tensor& t, const Node& node) {
  return SavedVariable(t, node);
}
inline std::vector<SavedVariable> save_result(TensorList list, const Node& node) {
  std::vector<SavedVariable> saved;
  for (const Tensor& t : list) saved.emplace_back(t, node);
  return saved;
}
inline std::vector<Tensor> unpack(const std::vector<SavedVariable>& saved, const Node& node) {
  std::vector<Tensor> tensors;
  for (const auto& s : saved) tensors.push_back(s.unpack(node));
  return tensors;
}

inline std::optional<Tensor> as_optional(Tensor t) {
  return t.defined() ? std::optional<Tensor>(std::move(t)) : std::nullopt;
}
inline std::vector<std::optional<Tensor>> unpack_optional(const std::vector<SavedVariable>& saved,
                                                          const Node& node) {
  std::vector<std::optional<Tensor>> tensors;
  for (const auto& s : saved) tensors.push_back(as_optional(s.unpack(node)));
  return tensors;
}

/// An argument that is no tensor, as a node keeps it: views of lists become lists.
inline std::vector<int64_t> own(IntArrayRef values) { return values.vec(); }
inline std::optional<std::vector<int64_t>> own(const OptionalIntArrayRef& values) {
  return values ? std::optional(values->vec()) : std::nullopt;
}
inline std::string own(std::string_view text) { return std::string(text); }
template <class T>
requires(!std::is_convertible_v<const T&, IntArrayRef> || std::is_arithmetic_v<T>) T
    own(const T& value) {
  return value;
}
inline DimVector own(const DimVector& values) { return values; }

/// Whether what is computed now is differentiated itself: recorded, or within a level of forward
/// mode; or whether its gradients are batched. Operators compute it then. Who only watches calls
/// (call_mode.h) differentiates nothing.
inline bool is_differentiated() {
  constexpr uint8_t kForward = DispatchKeySet(DispatchLayer::ForwardGrad).layers;
  if (thread_state.grad_mode || thread_state.batched_gradients) return true;
  return TENON_UNLIKELY(!(thread_state.skipped_layers & kForward)) &&
         forward_ad::DualLevel::is_active();
}

/// Where a wrapper's call goes on: to Python, or to the backend.
inline DispatchKeySet below_autograd(DispatchKeySet keys) {
  return {static_cast<uint8_t>(keys.layers & kPythonLayers), keys.backends};
}

inline DispatchKeySet key_set_of(const TensorBase& t) { return t.key_set(); }
inline DispatchKeySet key_set_of(const std::optional<Tensor>& t) {
  return t ? t->key_set() : DispatchKeySet();
}
/// Whether Python takes calls with these tensors, or one has a conjugate or negative bit, so that
/// operators compute and no kernel does.
template <class... Tensors>
bool needs_operators(const Tensors&... tensors) {
  const DispatchKeySet keys = (DispatchKeySet() | ... | key_set_of(tensors));
  return python_takes(keys) || keys.has(Backend::Unresolved);
}

inline bool any_grad_defined(const variable_list& grads) {
  for (const Tensor& g : grads) {
    if (g.defined()) return true;
  }
  return false;
}

/// Gradient i, or zeros like one that is defined: for kernels that read them all.
TENON_API Tensor defined_or_zeros(const variable_list& grads, size_t i);
/// Of an operator that has no derivative and changes `self` in place: throws where that would have
/// to be recorded.
TENON_API void check_needs_no_derivative(const char* op, const Tensor& self);
/// After such a change by an operator whose derivative is zero wherever it has one, as that of
/// comparisons: `self` depends on nothing that gradients go to. `node`: the name of its node.
TENON_API void set_constant_history(const char* node, const Tensor& self);

/// NotImplementedError "derivative for aten::foo is not implemented".
[[noreturn]] TENON_API Tensor not_implemented(const char* what);

}  // namespace tenon::autograd

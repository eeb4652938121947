#include "autograd/forward/forward_rules.h"

#include <algorithm>

#include "aten/core/thread_state.h"
#include "autograd/autograd.h"
#include "autograd/generated_support/operator_node.h"
#include "tenon/ops/add.h"
#include "tenon/ops/any.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/to.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::autograd {

bool ForwardCall::has_tangent(size_t argument) const {
  for (const Tensor& t : tangents[argument]) {
    if (t.defined()) return true;
  }
  return false;
}

Tensor ForwardCall::tangent(size_t argument) const {
  const Tensor value(arguments[argument].is_tensor() ? arguments[argument].to_tensor()
                                                     : TensorBase());
  if (!value.defined()) return {};
  const Tensor& tangent = tangents[argument][0];
  return tangent.defined() ? tangent : zeros_like(value.detach());
}

std::vector<Tensor> ForwardCall::tangents_of_list(size_t argument) const {
  std::vector<Tensor> list = tangents[argument];
  const auto& values = arguments[argument].to_tensors();
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].defined() && values[i].defined()) list[i] = zeros_like(Tensor(values[i]).detach());
  }
  return list;
}

void add_term(Tensor& sum, Tensor term, bool negative) {
  if (sum.defined()) {
    sum = negative ? sum.sub(term) : sum.add(term);
  } else {
    sum = negative ? term.neg() : std::move(term);
  }
}

namespace forward_ad {
namespace {

bool has_bit(uint64_t bits, size_t i) { return i < 64 && (bits >> i & 1); }

bool has_complex(const Value& value) {
  const auto is = [](const TensorBase& t) { return t.defined() && t.is_complex(); };
  if (value.is_tensor()) return is(value.to_tensor());
  if (!value.is_tensor_list()) return false;
  const auto& list = value.to_tensors();
  return std::any_of(list.begin(), list.end(), is);
}

bool has_complex(const ForwardCall& call) {
  for (const Value& value : call.arguments) {
    if (has_complex(value)) return true;
  }
  for (const Tensor& t : call.results) {
    if (t.defined() && t.is_complex()) return true;
  }
  return false;
}

/// auto_linear: what changes in place changes a copy of its tangent.
void linear(const OperatorEntry& op, const ForwardCall& call, uint64_t covered,
            const std::vector<Tensor>& like, std::vector<Tensor>& tangents) {
  Stack stack = call.arguments;
  for (size_t i = 0; i < stack.size(); ++i) {
    if (!has_bit(covered, i)) continue;
    if (stack[i].is_tensor()) {
      const Tensor tangent = call.tangent(i);
      stack[i] =
          TensorBase(call.in_place && i == 0 && call.has_tangent(0) ? tangent.clone() : tangent);
    } else if (stack[i].is_tensor_list()) {
      const std::vector<Tensor> list = call.tangents_of_list(i);
      stack[i] = Value::Tensors(list.begin(), list.end());
    }
  }
  op.call_boxed(stack);
  size_t at = 0;
  const auto take = [&](const TensorBase& t) {
    if (like[at].defined()) tangents[at] = Tensor(t);
    ++at;
  };
  for (const Value& value : stack) {
    if (value.is_tensor()) take(value.to_tensor());
    if (!value.is_tensor_list()) continue;
    for (const TensorBase& t : value.to_tensors()) take(t);
  }
}

/// While it lives, input `only` of the node is the one whose gradient is asked for.
class OnlyInput {
 public:
  OnlyInput(Node& node, size_t only) : node_(node), all_(node.next_edges()) {
    Node::Edges edges(all_.size());
    edges[only] = all_[only];
    node_.set_next_edges(std::move(edges));
  }
  ~OnlyInput() { node_.set_next_edges(std::move(all_)); }
  OnlyInput(const OnlyInput&) = delete;
  OnlyInput& operator=(const OnlyInput&) = delete;

 private:
  Node& node_;
  Node::Edges all_;
};

/// auto_element_wise. Backward multiplies the gradient by the conjugate of each element's
/// derivative, forward mode the tangent by the derivative.
Tensor element_wise(Node& node, uint32_t output_nr, const ForwardCall& call, uint64_t covered,
                    bool is_complex) {
  Tensor sum;
  size_t input = 0;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!has_bit(covered, i)) continue;
    const size_t k = input++;
    if (!call.has_tangent(i) || !node.should_compute_output(k)) continue;
    const OnlyInput only(node, k);
    variable_list grads(std::max<size_t>(node.num_inputs(), 1));
    grads[output_nr] = is_complex ? call.tangent(i).conj() : call.tangent(i);
    const Tensor term = node.apply(std::move(grads))[k];
    // Views of the tangent as real numbers must share its memory.
    if (term.defined()) add_term(sum, is_complex ? term.conj().resolve_conj() : term, false);
  }
  return sum;
}

/// A formula's value as a tangent of its own: of the result's dtype (the real part where that is
/// real) and sizes, and no other's memory.
Tensor completed(Tensor tangent, const Tensor& result, const ForwardCall& call) {
  if (!tangent.defined()) return tangent;
  if (tangent.scalar_type() != result.scalar_type()) tangent = tangent.to(result.scalar_type());
  if (tangent.sizes() != result.sizes()) tangent = tangent.expand(result.sizes());
  for (const auto& list : call.tangents) {
    for (const Tensor& t : list) {
      if (t.defined() && tangent.is_alias_of(t)) return tangent.clone();
    }
  }
  return tangent;
}

/// Whether the node's type has a rule that knows these tangents; then they are computed.
bool follow_rule(const OperatorEntry& op, Node& node, const ForwardCall& call,
                 const std::vector<Tensor>& like, std::vector<Tensor>& tangents) {
  const auto* of_operator = dynamic_cast<const OperatorNode*>(&node);
  if (!of_operator) return false;
  const NodeType& type = of_operator->type();
  for (size_t i = 0; i < call.tangents.size(); ++i) {
    if (has_bit(type.uncovered, i) && call.has_tangent(i)) return false;
  }
  switch (type.forward) {
  case ForwardRule::Backward: return false;
  case ForwardRule::Linear: linear(op, call, type.covered, like, tangents); return true;
  case ForwardRule::ElementWise:
  case ForwardRule::ElementWiseOfReals: {
    const bool is_complex = has_complex(call);
    if (is_complex && type.forward == ForwardRule::ElementWiseOfReals) return false;
    for (size_t i = 0; i < like.size(); ++i) {
      if (!like[i].defined()) continue;
      const auto number = static_cast<uint32_t>(like[i].output_nr());
      tangents[i] = element_wise(node, number, call, type.covered, is_complex);
    }
    break;
  }
  case ForwardRule::Formula: type.tangents(call, tangents.data()); break;
  }
  for (size_t i = 0; i < tangents.size(); ++i) {
    tangents[i] = like[i].defined() ? completed(tangents[i], call.results[i], call) : Tensor();
  }
  return true;
}

/// The tangents of a node's results, from those of its inputs, by its own backward alone: the
/// gradients are linear in what comes in, and the derivative of <gradients, tangents> with respect
/// to it is the derivative of the results along the tangents.
/// `like`: the results, undefined where they take no gradient; `recorded`: whether the tangents
/// shall be differentiable in their turn.
std::vector<Tensor> push_forward(Node& node, const std::vector<Tensor>& like,
                                 const std::vector<Inflow>& inflows, bool recorded,
                                 const std::string& op) {
  std::vector<Tensor> probes;
  variable_list grads(std::max<size_t>(node.num_inputs(), 1));
  std::vector<size_t> places;
  for (size_t i = 0; i < like.size(); ++i) {
    if (!like[i].defined()) continue;
    const auto number = static_cast<size_t>(like[i].output_nr());
    probes.push_back(ones_like(like[i].detach()).requires_grad_());
    grads[number] = probes.back();
    places.push_back(i);
  }
  std::vector<Tensor> tangents(like.size());
  if (probes.empty()) return tangents;
  const variable_list inputs = node.apply(std::move(grads));
  std::vector<Tensor> outputs, weights;
  for (size_t k = 0; k < node.next_edges().size() && k < inputs.size(); ++k) {
    const Tensor& grad = inputs[k];
    if (!grad.defined()) continue;
    for (const Inflow& inflow : inflows) {
      if (!(inflow.edge == node.next_edges()[k]) || !inflow.tangent.defined()) continue;
      if (!grad.requires_grad()) {
        // Zero wherever it comes from, or made by something that has no derivative.
        if (grad.device().type() != kMeta && any(grad).item<bool>()) throw_no_formula(op);
        continue;
      }
      outputs.push_back(grad);
      // What was broadcast has not been added up again yet.
      Tensor tangent = inflow.tangent;
      if (tangent.scalar_type() != grad.scalar_type()) tangent = tangent.to(grad.scalar_type());
      weights.push_back(tangent.expand(grad.sizes()));
    }
  }
  if (outputs.empty()) return tangents;
  const std::vector<Tensor> found = grad(outputs, probes, weights, true, recorded, true);
  for (size_t i = 0; i < places.size(); ++i) tangents[places[i]] = found[i];
  return tangents;
}

}  // namespace

std::vector<Tensor> tangents_of_results(const OperatorEntry& op, Node& node,
                                        const ForwardCall& call, const std::vector<Tensor>& like,
                                        const std::vector<Inflow>& inflows, bool recorded) {
  {
    const AutoGradMode mode(recorded);
    std::vector<Tensor> tangents(like.size());
    if (follow_rule(op, node, call, like, tangents)) return tangents;
  }
  return push_forward(node, like, inflows, recorded, op.qualified_name());
}

void throw_no_formula(const std::string& op) {
  tenon::detail::raise<NotImplementedError>(
      "Trying to use forward AD with ", op,
      " that does not support it because its gradient cannot be differentiated");
}

}  // namespace forward_ad
}  // namespace tenon::autograd

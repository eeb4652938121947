#include "autograd/batched.h"

#include <unordered_set>

#include "aten/batching/batched_tensor.h"
#include "autograd/engine/accumulate_grad.h"
#include "autograd/forward/forward_ad.h"
#include "autograd/forward/tangents.h"
#include "autograd/meta.h"
#include "tenon/ops/alias.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::autograd {
namespace {

using batching::is_batched;
using batching::Level;
using batching::value_of_all_levels;

Level highest_level(const std::vector<Tensor>& tensors) {
  Level highest;
  for (const Tensor& t : tensors) {
    if (!is_batched(t)) continue;
    const Level& level = batching::level_of(t);
    if (!highest || level->number > highest->number) highest = level;
  }
  return highest;
}

/// Whether the graph of some of the tensors leads to a leaf that is none of the inputs, or some
/// inputs have a graph themselves.
bool requires_other_grads(const std::vector<Tensor>& tensors, const std::vector<Tensor>& inputs) {
  std::unordered_set<const TensorImpl*> leaves;
  for (const Tensor& input : inputs) {
    const Tensor value = value_of_all_levels(input);
    if (!value.is_leaf()) return true;
    leaves.insert(value.unsafe_impl());
  }
  std::unordered_set<const Node*> seen;
  std::vector<const Node*> stack;
  bool others = false;
  const auto add = [&](const Node* node) {
    if (!node || !seen.insert(node).second) return;
    if (node->is_accumulator()) {
      others |=
          !leaves.contains(static_cast<const AccumulateGrad*>(node)->variable().unsafe_impl());
    } else {
      stack.push_back(node);
    }
  };
  for (const Tensor& t : tensors) {
    const Tensor value = value_of_all_levels(t);
    if (!value.defined() || !value.requires_grad()) continue;
    if (value.is_leaf()) {
      others |= !leaves.contains(value.unsafe_impl());
    } else {
      add(value.grad_fn().get());
    }
  }
  while (!others && !stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->next_edges()) {
      if (edge.is_valid()) add(edge.function.get());
    }
  }
  return others;
}

}  // namespace

bool is_any_batched(const std::vector<Tensor>& tensors) {
  for (const Tensor& t : tensors) {
    if (is_batched(t)) return true;
  }
  return false;
}

Tensor batched_like(const Tensor& like, const Tensor& value) {
  if (!is_batched(like)) return value;
  return batching::make_batched(batched_like(batching::value_of(like), value),
                                batching::level_of(like));
}

/// The tensor without the level, whose batch is in front. Levels above it stay: those of gradients
/// of which there are several for each example.
Tensor without_level(const Tensor& t, const BatchLevel& level) {
  if (!is_batched(t) || batching::level_of(t)->number <= level.number)
    return batching::batch_in_front(t, level);
  const Tensor inner = without_level(batching::value_of(t), level);
  return batching::make_batched(inner.movedim(0, 1), batching::level_of(t));
}

/// What without_level() has been given.
Tensor with_level(const Tensor& t, const Level& level) {
  if (!is_batched(t) || batching::level_of(t)->number <= level->number)
    return batching::make_batched(t, level);
  const Tensor inner = with_level(batching::value_of(t).movedim(1, 0), level);
  return batching::make_batched(inner, batching::level_of(t));
}

std::vector<Tensor> grad_of_batched(const std::vector<Tensor>& outputs,
                                    const std::vector<Tensor>& inputs,
                                    const std::vector<Tensor>& grad_outputs,
                                    const GradOptions& options) {
  const Level level = highest_level(outputs);
  TENON_CHECK_NOT_IMPLEMENTED(!options.is_grads_batched,
                              "[grad] is_grads_batched is not supported for outputs that are "
                              "batched by vmap; use func.vjp within vmap");
  std::vector<Tensor> in, out, given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    TENON_CHECK(batching::is_batched_at(inputs[i], *level),
                "[grad] within vmap the output is batched and input ", i,
                " is not, so its gradients of all examples would be added up. Differentiate with "
                "func.grad or func.vjp within vmap, or pass the input to the function that vmap "
                "calls");
    in.push_back(batching::value_of(inputs[i]));
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    out.push_back(batching::batch_in_front(outputs[i], *level));
    if (i < grad_outputs.size() && grad_outputs[i].defined()) {
      given.push_back(without_level(grad_outputs[i], *level));
    } else {
      TENON_CHECK(outputs[i].numel() == 1,
                  "grad can be implicitly created only for scalar outputs");
      given.push_back(ones_like(out.back().detach()));
    }
  }
  std::vector<Tensor> grads;
  {
    const batching::BelowLevel below(*level);
    grads = grad(out, in, given, options);
  }
  for (Tensor& g : grads) {
    if (g.defined()) g = with_level(g, level);
  }
  return grads;
}

std::vector<Tensor> with_batched_rows(
    const std::vector<Tensor>& rows,
    const std::function<std::vector<Tensor>(const std::vector<Tensor>& grads)>& pass) {
  batching::begin_level(rows.at(0).size(0), BatchRandomness::Same);
  struct End {
    ~End() { batching::end_level(); }
  } end;
  const Level level = batching::current_level();
  std::vector<Tensor> grads;
  for (const Tensor& row : rows) grads.push_back(batching::add_batch_dim(row, 0, level));
  std::vector<Tensor> results = pass(grads);
  for (Tensor& result : results) {
    if (result.defined()) result = batching::remove_batch_dim(result, level, 0);
  }
  return results;
}

namespace func {

Tensor fresh_input(const Tensor& t) {
  const Tensor everywhere = batching::batched_everywhere(t);
  const Tensor value = value_of_all_levels(everywhere);
  if (value.requires_grad() && GradMode::is_enabled())
    return batched_like(everywhere, alias(value));
  const Tensor leaf = value.detach().requires_grad_(true);
  if (const Tensor tangent = forward_ad::tangent_of(value); tangent.defined())
    forward_ad::set_tangent_of(leaf, tangent);
  return batched_like(everywhere, leaf);
}

std::vector<Tensor> gradients(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                              const std::vector<Tensor>& grad_outputs,
                              std::optional<bool> create_graph, std::optional<bool> retain_graph) {
  bool record = false;
  if (create_graph) {
    record = *create_graph;
  } else if (GradMode::is_enabled()) {
    for (const Tensor& g : grad_outputs) record |= g.defined() && g.requires_grad();
    record = record || requires_other_grads(outputs, inputs);
  }
  // What does not require grad depends on none of the inputs.
  std::vector<Tensor> roots, given;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    given.push_back(i < grad_outputs.size() ? grad_outputs[i] : Tensor());
  }
  std::vector<Tensor> grads(inputs.size());
  if (!roots.empty() && !inputs.empty()) {
    GradOptions options;
    options.create_graph = record;
    options.retain_graph = retain_graph;
    options.allow_unused = true;
    grads = grad(roots, inputs, given, options);
  }
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!grads[i].defined()) grads[i] = zeros_like(inputs[i].detach());
  }
  return grads;
}

std::vector<Tensor> leave(const std::vector<Tensor>& tensors, const std::vector<Tensor>& inputs) {
  std::vector<Tensor> results = tensors;
  for (Tensor& t : results) {
    if (t.defined() && t.requires_grad() && !requires_other_grads({t}, inputs)) t = t.detach();
  }
  return results;
}

}  // namespace func
}  // namespace tenon::autograd

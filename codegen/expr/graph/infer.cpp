#include "codegen/expr/graph/infer.h"

#include "codegen/expr/graph/append_new.h"
#include "codegen/expr/graph/operators.h"
#include "codegen/expr/graph/print_readable.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tenon::codegen::expr {
namespace {

/// Nodes reachable from `root` through the edges (user, argument index) that `follow` accepts.
template <class Follow>
std::vector<char> reach(const Graph& graph, NodeId root, const Follow& follow) {
  std::vector<char> seen(graph.size(), 0);
  std::vector<NodeId> stack = {root};
  seen[root] = 1;
  while (!stack.empty()) {
    const Node& node = graph[stack.back()];
    stack.pop_back();
    for (std::size_t i = 0; i < node.arguments.size(); ++i) {
      const NodeId argument = node.arguments[i];
      if (!seen[argument] && follow(node, i)) {
        seen[argument] = 1;
        stack.push_back(argument);
      }
    }
  }
  return seen;
}

/// What the call says about types; of a loop, what all calls of its body say.
void add_call(const Node& node, TypeInfo& info) {
  const Intrinsic& row = intrinsic(node.op);
  info.complex_allowed = info.complex_allowed && row.complex_allowed;
  info.floating_allowed = info.floating_allowed && row.integers != Integers::kOnly;
  info.computes_floating =
      info.computes_floating || node.floating || row.integers == Integers::kPromoted;
  info.cost = std::max(info.cost, row.cost);
  ++info.node_count;
  if (!node.loop) return;
  any_node(node.loop->body, node.loop->roots(), [&](const Node& one) {
    if (one.kind == NodeKind::kCall && !one.loop) add_call(one, info);
    info.computes_floating = info.computes_floating || one.floating;
    return false;
  });
}

}  // namespace

TypeInfo infer_types(const Graph& graph, NodeId output) {
  TypeInfo info;
  const bool is_mask = graph[output].value_kind == ValueKind::kMask;
  if (is_mask)
    info.promotion = Promotion::kBool;
  else if (graph[output].floating)
    info.promotion = Promotion::kFloat;

  const auto computes = reach(graph, output, [&](const Node& user, std::size_t i) {
    const bool bare_condition = user.op == Op::kWhere && i == 0 &&
                                graph[user.arguments[0]].is_call(Op::kToMask) &&
                                graph[graph[user.arguments[0]].arguments[0]].is_variable();
    return !bare_condition;
  });
  const auto results = reach(graph, output, [&](const Node& user, std::size_t i) {
    return ((intrinsic(user.op).mask_arguments >> i) & 1) == 0;
  });

  for (NodeId id : topological_order(graph, {output})) {
    const Node& node = graph[id];
    info.computes_floating = info.computes_floating || node.floating;
    if (node.kind == NodeKind::kCall) {
      add_call(node, info);
    } else if (node.kind == NodeKind::kRandom) {
      info.computes_floating = true;
      info.complex_allowed = false;
    } else if (node.is_variable()) {
      const bool scalar = node.kind == NodeKind::kScalar;
      append_new(scalar ? info.scalars : info.tensors, node.name);
      if (computes[id]) append_new(scalar ? info.compute_scalars : info.compute_tensors, node.name);
      if (is_mask ? computes[id] : results[id])
        append_new(scalar ? info.result_scalars : info.result_tensors, node.name);
    }
  }
  info.integers_allowed = !info.computes_floating;
  return info;
}

bool serves(const TypeInfo& info, std::string_view category) {
  if (category == "floating") return info.floating_allowed;
  return category == "complex" ? info.complex_allowed : info.integers_allowed;
}

std::string why_not(const Graph& graph, const std::vector<NodeId>& outputs,
                    std::string_view category) {
  const auto served = [&](NodeId id) { return serves(infer_types(graph, id), category); };
  if (std::all_of(outputs.begin(), outputs.end(), served)) return "";
  // The first whose operands are no obstacle.
  for (const NodeId id : topological_order(graph, outputs)) {
    const Node& node = graph[id];
    if (served(id)) continue;
    if (node.kind == NodeKind::kRandom) return "random numbers are floating";
    if (node.kind != NodeKind::kCall) return "`" + print_readable(graph, id) + "` is floating";
    const Intrinsic& row = intrinsic(node.op);
    const std::string name = "`" + std::string(symbol_of(node.op)) + "`";
    if (row.integers == Integers::kOnly) return name + " takes integers alone";
    return category == "complex" ? name + " takes no complex numbers"
                                 : name + " gives floating numbers";
  }
  return "";
}

bool is_real(const Graph& graph, NodeId id) {
  std::vector<NodeId> open = {id};
  for (std::size_t i = 0; i < open.size(); ++i) {
    const Node& node = graph[open[i]];
    if (node.value_kind == ValueKind::kMask) continue;
    if (node.kind == NodeKind::kTensor) return false;
    if (node.kind != NodeKind::kCall) continue;
    if (node.op == Op::kReal || node.op == Op::kImag || node.op == Op::kAbs) continue;
    for (const NodeId argument : node.arguments) append_new(open, argument);
  }
  return true;
}

bool is_modular(const Graph& graph, const std::vector<NodeId>& outputs) {
  static constexpr Op kModular[] = {
      Op::kAdd,  Op::kSub,        Op::kMul,       Op::kNeg,        Op::kSquare,    Op::kFma,
      Op::kConj, Op::kBitwiseAnd, Op::kBitwiseOr, Op::kBitwiseXor, Op::kBitwiseNot};
  const std::vector<NodeId> nodes = topological_order(graph, outputs);
  return std::all_of(nodes.begin(), nodes.end(), [&](NodeId id) {
    const Node& node = graph[id];
    if (node.value_kind != ValueKind::kValue) return false;
    switch (node.kind) {
    case NodeKind::kConstant: return node.integral && std::abs(node.number) < 128;
    case NodeKind::kTensor:
    case NodeKind::kScalar: return true;
    case NodeKind::kCall:
      return std::find(std::begin(kModular), std::end(kModular), node.op) != std::end(kModular);
    default: return false;
    }
  });
}

}  // namespace tenon::codegen::expr

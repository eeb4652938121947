#include "codegen/expr/graph/graph.h"

#include "codegen/expr/graph/simplify.h"

#include <algorithm>
#include <bit>

namespace tenon::codegen::expr {
namespace {

std::string key_of(const Node& node) {
  std::string key;
  const auto append = [&](std::uint64_t value) {
    for (int i = 0; i < 8; ++i) key.push_back(static_cast<char>(value >> (8 * i)));
  };
  key.push_back(static_cast<char>(node.kind));
  switch (node.kind) {
  case NodeKind::kConstant:
    key.push_back(static_cast<char>(node.value_kind));
    key.push_back(node.integral ? 1 : 0);
    append(std::bit_cast<std::uint64_t>(node.number));
    break;
  case NodeKind::kCall:
    key.push_back(static_cast<char>(node.op));
    for (NodeId argument : node.arguments) append(argument);
    if (node.loop) key += std::to_string(node.index) + " of " + node.loop->key;
    break;
  default: append(node.index); key += node.name;
  }
  return key;
}

}  // namespace

NodeId Graph::intern(Node node) {
  const auto [it, inserted] = ids_.try_emplace(key_of(node), static_cast<NodeId>(nodes_.size()));
  if (inserted) nodes_.push_back(std::move(node));
  return it->second;
}

NodeId Graph::constant(double value, bool integral) {
  Node node;
  node.number = value;
  node.integral = integral;
  node.floating = !integral;
  return intern(std::move(node));
}

NodeId Graph::mask_constant(bool value) {
  Node node;
  node.value_kind = ValueKind::kMask;
  node.number = value ? 1 : 0;
  node.integral = true;
  return intern(std::move(node));
}

NodeId Graph::variable(NodeKind kind, const std::string& name, std::uint32_t index) {
  return variable(kind, name, index,
                  kind == NodeKind::kScalar ? Domain::kScalar : Domain::kElement);
}

NodeId Graph::number(const std::string& name, bool floating) {
  Node node;
  node.kind = NodeKind::kScalar;
  node.floating = floating;
  node.name = name;
  return intern(std::move(node));
}

NodeId Graph::variable(NodeKind kind, const std::string& name, std::uint32_t index, Domain domain) {
  Node node;
  node.kind = kind;
  node.domain = domain;
  node.floating =
      kind == NodeKind::kGrad || kind == NodeKind::kTangent || kind == NodeKind::kRandom;
  node.name = name;
  node.index = index;
  return intern(std::move(node));
}

NodeId Graph::plain_call(Op op, std::vector<NodeId> arguments) {
  const Intrinsic& row = intrinsic(op);
  Node node;
  node.kind = NodeKind::kCall;
  node.op = op;
  node.value_kind = row.result;
  node.floating = row.integers == Integers::kPromoted;
  for (NodeId argument : arguments) {
    node.domain = std::max(node.domain, nodes_[argument].domain);
    node.floating = node.floating || nodes_[argument].floating;
  }
  if (is_reduction(op)) node.domain = Domain::kRow;
  if (op == Op::kRowIndex) node.domain = Domain::kElement;
  node.floating = node.floating && row.result == ValueKind::kValue && !is_whole(op);
  node.arguments = std::move(arguments);
  if (row.commutative) {
    Node swapped = node;
    std::reverse(swapped.arguments.begin(), swapped.arguments.end());
    if (const auto it = ids_.find(key_of(swapped)); it != ids_.end()) return it->second;
  }
  return intern(std::move(node));
}

bool Node::same_loop(const Node& other) const {
  return loop && other.loop && loop->key == other.loop->key && arguments == other.arguments;
}

NodeId Graph::repeat(std::shared_ptr<const Loop> loop, std::uint32_t index,
                     const std::vector<NodeId>& arguments) {
  Node node;
  node.kind = NodeKind::kCall;
  node.op = Op::kRepeat;
  node.domain = Domain::kElement;
  node.index = index;
  for (const NodeId argument : arguments) {
    node.arguments.push_back(as_value(argument));
    node.floating = node.floating || nodes_[argument].floating;
  }
  for (const NodeId next : loop->next) node.floating = node.floating || loop->body[next].floating;
  node.loop = std::move(loop);
  return intern(std::move(node));
}

std::vector<NodeId> Loop::roots() const {
  std::vector<NodeId> all = {condition};
  all.insert(all.end(), next.begin(), next.end());
  return all;
}

void Loop::describe() {
  key = std::to_string(most);
  for (const std::vector<NodeId>* list : {&carried, &captured}) {
    for (const NodeId id : *list) key += " " + body[id].name;
    key += ";";
  }
  const std::vector<NodeId> order = topological_order(body, roots());
  std::map<NodeId, std::size_t> places;
  for (const NodeId id : order) {
    Node node = body[id];
    for (NodeId& argument : node.arguments) argument = static_cast<NodeId>(places.at(argument));
    places.emplace(id, places.size());
    const std::string text = key_of(node);
    key += std::to_string(text.size()) + ":" + text;
  }
  for (const NodeId root : roots()) key += " " + std::to_string(places.at(root));
}

bool any_node(const Graph& graph, const std::vector<NodeId>& roots,
              const std::function<bool(const Node&)>& is_so) {
  for (const NodeId id : topological_order(graph, roots)) {
    const Node& node = graph[id];
    if (is_so(node)) return true;
    if (node.loop && any_node(node.loop->body, node.loop->roots(), is_so)) return true;
  }
  return false;
}

NodeId Graph::as_value(NodeId id) {
  return nodes_[id].value_kind == ValueKind::kValue ? id : call(Op::kFromMask, {id});
}

NodeId Graph::as_mask(NodeId id) {
  return nodes_[id].value_kind == ValueKind::kMask ? id : call(Op::kToMask, {id});
}

NodeId Graph::call(Op op, const std::vector<NodeId>& arguments) {
  const Intrinsic& row = intrinsic(op);
  const auto is_mask = [&](NodeId id) { return nodes_[id].value_kind == ValueKind::kMask; };
  if (op == Op::kWhere && is_mask(arguments[1]) && is_mask(arguments[2])) {
    const NodeId condition = as_mask(arguments[0]);
    return call(Op::kLogicalOr,
                {call(Op::kLogicalAnd, {condition, arguments[1]}),
                 call(Op::kLogicalAnd, {call(Op::kLogicalNot, {condition}), arguments[2]})});
  }
  std::vector<NodeId> converted;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    converted.push_back((row.mask_arguments >> i) & 1 ? as_mask(arguments[i])
                                                      : as_value(arguments[i]));
  if (const auto simpler = simplify(*this, op, converted)) return *simpler;
  return plain_call(op, std::move(converted));
}

std::vector<NodeId> topological_order(const Graph& graph, const std::vector<NodeId>& roots) {
  // Ids already are a topological order, but one of creation; users expect order of use.
  std::vector<NodeId> order;
  std::vector<char> state(graph.size(), 0);
  std::vector<std::pair<NodeId, std::size_t>> stack;
  for (NodeId root : roots) {
    if (!state[root]) stack.emplace_back(root, 0);
    state[root] = 1;
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const auto& arguments = graph[id].arguments;
      if (next == arguments.size()) {
        order.push_back(id);
        stack.pop_back();
        continue;
      }
      const NodeId argument = arguments[next++];
      if (!state[argument]) {
        state[argument] = 1;
        stack.emplace_back(argument, 0);
      }
    }
  }
  return order;
}

NodeId substitute(Graph& graph, NodeId root, const std::map<NodeId, NodeId>& replacements) {
  std::map<NodeId, NodeId> copies = replacements;
  const auto copy = [&](auto& self, NodeId id) -> NodeId {
    if (const auto it = copies.find(id); it != copies.end()) return it->second;
    NodeId result = id;
    if (graph[id].kind == NodeKind::kCall) {
      const Node node = graph[id];  // a copy: the graph grows
      std::vector<NodeId> after;
      for (NodeId argument : node.arguments) after.push_back(self(self, argument));
      if (after != node.arguments)
        result =
            node.loop ? graph.repeat(node.loop, node.index, after) : graph.call(node.op, after);
    }
    copies.emplace(id, result);
    return result;
  };
  return copy(copy, root);
}

NodeId copy(Graph& graph, const Graph& other, NodeId root) {
  std::map<NodeId, NodeId> copies;
  for (const NodeId id : topological_order(other, {root})) {
    const Node& node = other[id];
    if (node.kind == NodeKind::kCall) {
      std::vector<NodeId> arguments;
      for (const NodeId argument : node.arguments) arguments.push_back(copies.at(argument));
      copies[id] = node.loop ? graph.repeat(node.loop, node.index, arguments)
                             : graph.call(node.op, arguments);
    } else if (node.is_variable()) {
      copies[id] = graph.variable(node.kind, node.name, node.index, node.domain);
    } else if (node.value_kind == ValueKind::kMask) {
      copies[id] = graph.mask_constant(node.number != 0);
    } else {
      copies[id] = graph.constant(node.number, node.integral);
    }
  }
  return copies.at(root);
}

}  // namespace tenon::codegen::expr

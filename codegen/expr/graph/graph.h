#pragma once

#include "codegen/expr/graph/intrinsics.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace tenon::codegen::expr {

using NodeId = std::uint32_t;

enum class NodeKind : std::uint8_t {
  kConstant,  ///< a number
  kTensor,    ///< tensor parameter
  kScalar,    ///< scalar parameter
  kGrad,      ///< gradient with respect to output `index`
  kResult,    ///< saved output `index`
  kTangent,   ///< forward-mode tangent of tensor parameter `name`
  kRandom,    ///< a number drawn for each element
  kCall       ///< intrinsic applied to `arguments`
};

struct Loop;

/// A typed node. Nodes are immutable and shared: equal nodes have equal ids within a graph.
struct Node {
  NodeKind kind = NodeKind::kConstant;
  Domain domain = Domain::kScalar;
  ValueKind value_kind = ValueKind::kValue;
  Op op = Op::kAdd;         ///< calls only
  bool integral = false;    ///< constants only: written without a fraction or exponent
  bool floating = false;    ///< known to be floating or complex even if all inputs are integers
  double number = 0;        ///< constants only
  std::uint32_t index = 0;  ///< grads and results: which output; loops: which carried value
  std::string name;         ///< variables only
  std::vector<NodeId> arguments;          ///< calls only
  std::shared_ptr<const Loop> loop = {};  ///< of kRepeat

  bool is_call(Op wanted) const { return kind == NodeKind::kCall && op == wanted; }
  /// Whether both are values of one loop.
  bool same_loop(const Node& other) const;
  bool is_number(double wanted) const { return kind == NodeKind::kConstant && number == wanted; }
  bool is_variable() const { return kind != NodeKind::kConstant && kind != NodeKind::kCall; }
};

/// Hash-consed expression graph. Arguments always have smaller ids than the calls that use them.
class Graph {
 public:
  NodeId constant(double value, bool integral);
  NodeId mask_constant(bool value);
  NodeId integer(std::int64_t value) { return constant(static_cast<double>(value), true); }

  /// A variable of `kind`; the same name, kind and index give the same node.
  NodeId variable(NodeKind kind, const std::string& name, std::uint32_t index = 0);
  /// A number of a call; a `float` is floating as the literal 0.5 is.
  NodeId number(const std::string& name, bool floating);
  /// One of another domain than its kind's, as an operand with one value per row.
  NodeId variable(NodeKind kind, const std::string& name, std::uint32_t index, Domain domain);

  /// The simplified call `op(arguments...)`. Masks where values are wanted, and the converse, are
  /// converted. Simplifications change no result but the sign of a zero; in particular a product
  /// with zero is kept, since the other factor may be NaN or infinite.
  NodeId call(Op op, const std::vector<NodeId>& arguments);

  /// The last value of the loop's carried value `index`. `arguments`: what the carried values are
  /// before the first step, then what the captured variables stand for.
  NodeId repeat(std::shared_ptr<const Loop> loop, std::uint32_t index,
                const std::vector<NodeId>& arguments);

  /// As `value_kind`: inserts from_mask or to_mask where needed.
  NodeId as_value(NodeId id);
  NodeId as_mask(NodeId id);

  const Node& operator[](NodeId id) const { return nodes_[id]; }
  std::size_t size() const { return nodes_.size(); }

 private:
  NodeId intern(Node node);
  NodeId plain_call(Op op, std::vector<NodeId> arguments);

  std::vector<Node> nodes_;
  std::unordered_map<std::string, NodeId> ids_;
};

/// A bounded loop. Every lane takes steps of its own: once its condition does not hold, its carried
/// values stay.
struct Loop {
  Graph body;
  std::vector<NodeId> carried;   ///< variables of `body`
  std::vector<NodeId> captured;  ///< variables of `body`: values of the graph around the loop
  NodeId condition = 0;          ///< a mask
  std::vector<NodeId> next;      ///< of each carried variable
  std::uint32_t most = 0;        ///< steps
  std::string key = {};          ///< equal for equal loops, as `describe` makes it

  /// The condition, then `next`.
  std::vector<NodeId> roots() const;
  void describe();
};

/// Whether one of the nodes that the roots are made of, those of loops' bodies too, is so.
bool any_node(const Graph& graph, const std::vector<NodeId>& roots,
              const std::function<bool(const Node&)>& is_so);

/// Copies `root` with nodes replaced by `replacements`, simplifying again.
NodeId substitute(Graph& graph, NodeId root, const std::map<NodeId, NodeId>& replacements);

/// Copies `root` of another graph, simplifying again; returns its node of `graph`.
NodeId copy(Graph& graph, const Graph& other, NodeId root);

/// Every node reachable from `roots`, arguments before their users, each once.
std::vector<NodeId> topological_order(const Graph& graph, const std::vector<NodeId>& roots);

}  // namespace tenon::codegen::expr

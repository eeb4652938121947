#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "codegen/expr/graph/graph.h"

namespace tenon::codegen::expr {

/// Products as derivatives need them: ones, zeros and signs disappear, factors move into the
/// branches of `where` so that a branch not taken is exactly zero, and a quotient that the
/// operator's `outputs` hold is read from them. Constants are multiplied with each other, which
/// rounds differently from the order written: a derivative does not promise one.
class Products {
 public:
  /// `graph` grows; `outputs` of the operator, for quotients: the vector must outlive this.
  explicit Products(Graph& graph) : Products(graph, kNone) {}
  Products(Graph& graph, const std::vector<NodeId>& outputs) : g_(graph), outputs_(outputs) {}

  /// factor * d
  NodeId scale(NodeId factor, NodeId d);

 private:
  static const std::vector<NodeId> kNone;

  bool has_zero_branch(NodeId id);
  NodeId scale_anew(NodeId factor, NodeId d);
  std::optional<NodeId> known_quotient(NodeId a, NodeId r);
  bool is_output(NodeId id) const;

  Graph& g_;
  const std::vector<NodeId>& outputs_;
  // Graphs share nodes, so every recursion remembers what it has seen.
  std::map<NodeId, bool> zero_branches_;
  std::map<std::pair<NodeId, NodeId>, NodeId> scaled_;
};

}  // namespace tenon::codegen::expr

#pragma once

#include "codegen/expr/graph/graph.h"

#include <optional>

namespace tenon::codegen::expr {

/// An equal, simpler node for `op(arguments...)`, or nothing. The arguments already have the kinds
/// `op` takes.
std::optional<NodeId> simplify(Graph& graph, Op op, const std::vector<NodeId>& arguments);

}  // namespace tenon::codegen::expr

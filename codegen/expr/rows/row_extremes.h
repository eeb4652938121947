#pragma once

#include <set>
#include <vector>

#include "codegen/expr/graph/graph.h"

namespace tenon::codegen::expr {

/// Maxima and minima of rows that may be anything where the row has a NaN, because every one of
/// `outputs` is the same then: `x - max(x)` is no matter where `sum(exp(x - max(x)))` is NaN too.
std::set<NodeId> extremes_that_may_lose_nan(const Graph& graph, const std::vector<NodeId>& outputs);

}  // namespace tenon::codegen::expr

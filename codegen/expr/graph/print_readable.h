#pragma once

#include "codegen/expr/graph/graph.h"

#include <string>

namespace tenon::codegen::expr {

/// The node as expression-language text with minimal parentheses: parses back to an equal graph
/// when its variables are given as parameters. Shared subexpressions are repeated while the text
/// stays short, and named (`t0 = exp(x); t0 / (1 + t0)`) where it would not.
std::string print_readable(const Graph& graph, NodeId node);

}  // namespace tenon::codegen::expr

#pragma once

#include <set>
#include <string>
#include <vector>

#include "codegen/expr/graph/graph.h"
#include "codegen/expr/graph/printed_names.h"

namespace tenon::codegen::expr {

struct KernelOptions {
  Renaming rename;               ///< variable name -> C++ identifier; absent names stay
  std::string value_type = "V";  ///< the compute type's name
  std::string prefix = "m::";    ///< qualifies the intrinsics
  bool contract_fma = true;      ///< a * b + c, product used once, becomes fma(a, b, c)
  bool row_quotients = false;    ///< an element by a value of its row is rows::quotient(a, b)
  std::set<NodeId> nonpositive;  ///< nodes that are never positive: their exp is exp_nonpositive
};

/// The body of a functor: `statements` (`const auto t0 = m::exp(self);`) and one final expression
/// per output, of type V always (masks go through from_mask).
struct KernelText {
  std::vector<std::string> statements;
  std::vector<std::string> results;
};

KernelText print_kernel(const Graph& graph, const std::vector<NodeId>& outputs,
                        const KernelOptions& options = {});

/// A C++ literal of type double that reads back as exactly `value`; infinities and NaN become
/// std::numeric_limits expressions.
std::string double_literal(double value);

}  // namespace tenon::codegen::expr

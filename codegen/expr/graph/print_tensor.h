#pragma once

#include "codegen/expr/graph/print_kernel.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tenon::codegen::expr {

struct TensorTextOptions {
  Renaming rename;                      ///< variable name -> C++ expression
  std::set<std::string> plain_scalars;  ///< scalar parameters of C++ type double, int64_t or bool
  std::string prefix = "tenon::";       ///< qualifies the operators
};

/// A node as one C++ expression of type Tensor made of differentiable operators, and the base
/// names of the operators it calls (sorted), for includes. Scalar parameters are of type
/// `const Scalar&` unless listed in `plain_scalars`; compound scalar subexpressions are computed
/// in double. Reductions of rows are over the last of two dimensions, `rows_` and `length_`.
struct TensorText {
  std::string text;
  std::vector<std::string> operators;
};

/// A node of numbers alone, as a C++ expression of arithmetic type; nothing where C++ has no such
/// function.
std::optional<std::string> print_number(const Graph& graph, NodeId node,
                                        const TensorTextOptions& options = {});

TensorText print_tensor_ops(const Graph& graph, NodeId node, const TensorTextOptions& options = {});

}  // namespace tenon::codegen::expr

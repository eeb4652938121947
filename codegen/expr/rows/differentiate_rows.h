#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/expr/graph/parse.h"

namespace tenon::codegen::expr {

/// The gradient of one tensor parameter. Its domain is the parameter's, or a smaller one whose
/// value stands for all elements; that of a column is an element's, to be summed over the rows.
struct RowGradient {
  std::string input;
  NodeId node;
};

struct RowDerivative {
  std::vector<RowGradient> gradients;  ///< of each differentiable tensor parameter, in order
  std::vector<ExprError> errors;
};

/// Whether a result can have a gradient: it is no condition, position or number of elements.
bool has_gradient(const Graph& graph, NodeId result);

/// Reverse sweep over the graph of a `rowwise` entry: the adjoint of a reduction is a broadcast,
/// that of a broadcast a sum over the row, that of `pick` the value at the position, and `max`
/// and the like share their own among ties. Factors that are the same for the whole row are taken
/// out of sums, and outputs are read from their results where that keeps no more element-sized
/// tensors. Outputs that are not `differentiable` have no gradient; all are where nothing is said.
RowDerivative differentiate_rows(Expression& expression,
                                 const std::vector<bool>& differentiable = {});

/// The product of the other elements of x's row, whose product is y, as kernels compute it.
NodeId product_of_others(Graph& graph, NodeId x, NodeId y);

/// Forward mode: for each output its tangent along that of the tensor parameter `input`, which is
/// the variable `<input>_t`; nothing where it is zero. Outputs are read from their results.
std::vector<std::optional<NodeId>> row_tangents(Expression& expression, const std::string& input);

}  // namespace tenon::codegen::expr

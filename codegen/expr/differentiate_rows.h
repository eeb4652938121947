#pragma once

#include <string>
#include <vector>

#include "codegen/expr/parse.h"

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

/// Reverse sweep over the graph of a `rowwise` entry: the adjoint of a reduction is a broadcast,
/// that of a broadcast a sum over the row, that of `pick` the value at the position, and `max`
/// shares its own among ties. Factors that are the same for the whole row are taken out of sums,
/// and outputs are read from their results where that keeps no more element-sized tensors.
RowDerivative differentiate_rows(Expression& expression);

}  // namespace tenon::codegen::expr

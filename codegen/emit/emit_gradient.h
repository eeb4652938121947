#pragma once

#include <functional>

#include "codegen/expr/graph/differentiate.h"
#include "codegen/ir/node.h"

namespace tenon::codegen {

/// A written formula that turned out to be pointwise, for the argument `input`.
struct PointwiseFormula {
  std::string input;
  expr::Expression expression;
};

/// Gradients as nodes of one graph, so that those needed together share subexpressions.
struct PointwiseGradients {
  expr::Expression expression;
  expr::Derivative derivative;
};

/// The formulas in one graph.
PointwiseGradients join_formulas(const Operator& op, std::vector<PointwiseFormula> formulas);

/// A gradient of the input of index `input`, but for what it uses. `operators`: what its text
/// calls, added.
ir::PointwiseGradient emit_gradient(const Operator& op, const expr::Expression& expression,
                                    const expr::Gradient& gradient, size_t input,
                                    std::vector<std::string>& operators);

/// Kernels for the sets of inputs whose gradients may be wanted at once: each one alone, and all;
/// with two inputs that is every set.
std::vector<ir::GradientKernel>
emit_gradient_kernels(const Operator& op, const PointwiseGradients& gradients,
                      const std::function<size_t(const std::string&)>& input_index);

}  // namespace tenon::codegen

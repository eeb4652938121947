#pragma once

#include <functional>

#include "codegen/emit/form.h"
#include "codegen/expr/differentiate.h"

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

struct GradientText {
  std::string form;      ///< "grad", "zero", "kernel", or "operators" for too many tensors
  std::string text;      ///< C++ made of differentiable operators, for double backward
  std::string readable;  ///< for people
  std::vector<std::string> operators;
};

/// The formulas in one graph.
PointwiseGradients join_formulas(const Operator& op, std::vector<PointwiseFormula> formulas);

GradientText emit_gradient(const Operator& op, expr::Expression& expression,
                           const expr::Gradient& gradient);

/// Kernels for the sets of inputs whose gradients may be wanted at once: each one alone, and all;
/// with two inputs that is every set. {"outputs": [input indices], ...emit_kernel}
Json emit_gradient_kernels(const Operator& op, const PointwiseGradients& gradients,
                           const std::function<size_t(const std::string&)>& input_index);

}  // namespace tenon::codegen

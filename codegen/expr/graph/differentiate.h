#pragma once

#include "codegen/expr/graph/expr_error.h"
#include "codegen/expr/graph/parse.h"

#include <string>
#include <vector>

namespace tenon::codegen::expr {

enum class GradientForm : std::uint8_t {
  kZero,    ///< structurally zero: no gradient flows; `node` is the constant 0
  kGrad,    ///< exactly one output's gradient
  kScaled,  ///< that gradient times the constant `factor`
  kGeneral
};

/// The gradient of one tensor parameter, and what it needs.
struct Gradient {
  std::string input;
  NodeId node = 0;
  GradientForm form = GradientForm::kGeneral;
  double factor = 1;
  std::vector<std::string> tensors;    ///< tensor parameters used (values, not only shapes)
  std::vector<std::string> scalars;    ///< scalar parameters used
  std::vector<std::uint32_t> results;  ///< outputs used
  std::vector<std::uint32_t> grads;    ///< output gradients used
};

/// Gradients of all differentiable tensor parameters, in parameter order, and the union of what
/// they need saved.
struct Derivative {
  std::vector<Gradient> gradients;
  std::vector<std::string> saved_tensors;
  std::vector<std::string> saved_scalars;
  std::vector<std::uint32_t> saved_results;
  std::vector<ExprError> errors;  ///< e.g. an intrinsic without a derivative rule
};

/// Reverse-mode formulas of `expression`, as new nodes of its graph: for an input x and outputs
/// y_i, sum_i grad_i * conj(dy_i/dx). Derivatives are accumulated forward and multiplied by grad
/// last, inside the branches of `where`, so that a branch not taken contributes exactly zero even
/// where its derivative is NaN or infinite. An output's value is read from `result` where that
/// does not increase the number of saved tensors, and always where that saves drawing a random
/// number again, which is an error. Mask outputs contribute nothing. Variables: `grad` (`grad_0`,
/// `grad_1`, ... when there are several outputs); `result`
/// (`result0`, `result1`, ...).
Derivative differentiate(Expression& expression);

/// Forward mode: the tangent of output `output` in terms of `<input>_t` tangents and primals, as a
/// node of the graph (the constant 0 where no tangent reaches it).
NodeId tangent(Expression& expression, std::size_t output, std::vector<ExprError>& errors);

/// Variable names used by `differentiate`.
std::string grad_name(std::size_t output, std::size_t num_outputs);
std::string result_name(std::size_t output, std::size_t num_outputs);

}  // namespace tenon::codegen::expr

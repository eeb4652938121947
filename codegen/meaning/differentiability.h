#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "codegen/expr/formulas/formula_names.h"
#include "codegen/model/derivative.h"

namespace tenon::codegen {

/// A mistake in the text of a formula.
struct FormulaError {
  const Formula* formula;
  expr::ExprError error;
};

/// A formula for gradients of arguments.
struct BackwardFormula {
  const Formula* source;
  std::vector<size_t> inputs;  // indices into Differentiability::inputs, in the order of the key
  std::vector<size_t> kept;    // indices into Differentiability::kept, in the order of first use
  expr::Formula written;
  expr::Formula rewritten;  // properties replaced by their variables
};

/// A formula for the tangent of an output. `x_p` is the value of argument x, `x_t` its tangent.
struct ForwardFormula {
  const Formula* source;
  std::vector<std::string> outputs;  // of an in-place operator `self`
  std::string text;                  // auto_linear and auto_element_wise replaced by what they mean
  std::set<std::string> tangents;    // arguments whose tangent it needs
  std::set<std::string> primals;     // arguments whose value it needs
};

/// What a node keeps from the forward pass: an argument, a result, or a property of one.
struct KeptValue {
  expr::SavedValue value;
  /// Indices into Differentiability::inputs: it is needed if a gradient of one of them is wanted.
  std::set<size_t> users;
};

/// How one set of formulas differentiates an operator.
struct Differentiability {
  std::vector<const schema::Argument*> inputs;  // arguments with a gradient, in schema order
  std::vector<bool> outputs;                    // for each return: it is differentiable
  std::vector<BackwardFormula> backward;
  std::vector<ForwardFormula> forward;
  std::vector<KeptValue> kept;
  bool derived = false;              // gradients follow from the operator's expression
  std::vector<FormulaError> errors;  // formulas that do not parse; they are left out
};

/// Names that stand for result i of the schema in a formula: its own, and `resultN` where there are
/// several.
std::vector<std::string> result_names(const schema::FunctionSchema& schema);

/// Tensor arguments of an operator whose derivative is derived from its expression.
std::vector<const schema::Argument*> tensor_arguments(const Operator& op);

/// Whether gradients are derived although there is an entry: it only has formulas of tangents, or
/// says which outputs are differentiable.
bool follows_from_expression(const Operator& op, const FormulaSet& set);

/// What `set`, one of the sets of `derivative`, means for `op`, its operator. Outputs are what
/// `output_differentiability` says; without it every tensor, but the first alone where a formula
/// reads `grad`. Points into `derivative`, which must outlive the result.
Differentiability differentiability(const Operator& op, const Derivative& derivative,
                                    const FormulaSet& set);

}  // namespace tenon::codegen

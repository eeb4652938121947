#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/model/operator.h"

namespace tenon::codegen {

/// What the text of a formula is.
enum class FormulaKind : uint8_t {
  kExpression,
  kNonDifferentiable,  // non_differentiable
  kNotImplemented,     // not_implemented("reason"): throws when backward is run
  kAutoLinear,         // auto_linear, forward only
  kAutoElementWise,    // auto_element_wise, forward only
};

/// `names: text`. Backward: names are arguments, several for a joint formula (`self, other: ...`).
/// Forward: names are returns (`result`, `result1`, or the name in the schema).
struct Formula {
  std::vector<LocatedName> names;
  SourceString text;
  FormulaKind kind = FormulaKind::kExpression;

  bool has_name(std::string_view name) const;
};

/// The formulas of one autograd key; "Default" unless the entry has `dispatch`.
struct FormulaSet {
  LocatedName key;
  std::vector<Formula> backward;
  std::vector<Formula> forward;

  /// Formula that gives the gradient of argument `name`, or null.
  const Formula* find_backward(std::string_view name) const;
};

/// One entry of derivatives.yaml.
struct Derivative {
  SourceString name;  // as written: an operator's name, or an exact schema
  Location location;  // of the entry
  size_t target = 0;  // index into Model::operators()
  /// What the formulas' names refer to: the target's schema, or the functional form that upstream's
  /// `autogen` makes of a mutable target.
  schema::FunctionSchema schema;

  /// Empty when all outputs of floating dtype are differentiable (or: see `condition`).
  std::vector<bool> output_differentiability;
  Location output_differentiability_location;
  /// C++ condition in place of the list (upstream only).
  std::optional<SourceString> output_condition;

  std::vector<FormulaSet> sets;
  bool complete = true;  // false: a formula could not be read and was reported

  /// The set named "Default", or null.
  const FormulaSet* default_set() const;
};

}  // namespace tenon::codegen

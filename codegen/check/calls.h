#pragma once

#include <string>
#include <vector>

#include "codegen/check/overloads.h"
#include "codegen/meaning/differentiability.h"
#include "codegen/meaning/plain_functions.h"
#include "codegen/model/model.h"
#include "codegen/yaml/diagnostic.h"

namespace tenon::codegen {

/// A function of autograd/generated_support/formulas.h or
/// autograd/generated_support/generated_support.h that formulas may call.
struct FormulaFunction {
  std::string name;
  size_t num_arguments;
  bool gives_tensor;  // else a type that calls are not checked for
};
const std::vector<FormulaFunction>& formula_functions();

/// A function of Tenon that is no operator, which compositions may call.
struct CompositionFunction {
  std::string name;
  std::vector<schema::BaseType> arguments;
  schema::BaseType result;
};
const std::vector<CompositionFunction>& composition_functions();

/// Checks the calls that formulas make: that functions and methods exist, and that some overload
/// takes the arguments by number and kind. What cannot be told without a compiler (templates, types
/// of std, members of anything but a Tensor) passes.
class CallChecker {
 public:
  /// `base` holds operators that exist elsewhere, or is null. Both models outlive the checker.
  CallChecker(const Model& model, const Model* base);

  /// Reports mistakes of one formula of `derivative` at their places; `tree` is the formula's text
  /// as it was parsed.
  void check(const Derivative& derivative, const Formula& formula, const expr::Formula& tree,
             DiagnosticSink& sink) const;

  /// A call that is of one operator beyond doubt, at a byte of the text.
  struct Call {
    const Operator* op;
    size_t offset;
  };
  /// The same of a composition; `derivative` has the operator's schema. Appends its calls.
  void check(const Derivative& derivative, const Formula& formula, const expr::Formula& tree,
             DiagnosticSink& sink, std::vector<Call>& made) const;

  /// An operator of this name may be declared, and could not be read.
  bool may_exist(const std::string& name) const {
    return !model_.complete() || model_.has_broken_form(name);
  }
  /// A function of expressions of elements, and nothing that tensor code can call.
  bool is_definition(const std::string& name) const;
  /// Names of all operators, and of all methods of Tensor.
  const std::vector<std::string>& names() const { return names_; }

 private:
  void add(const Model& model);

  const Model& model_;
  Overloads functions_, methods_;
  std::vector<std::string> names_;
};

}  // namespace tenon::codegen

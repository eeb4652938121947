#pragma once

#include <string>
#include <vector>

#include "codegen/expr/formula.h"

namespace tenon::codegen::expr {

/// Tensor code: `{ name = expression; } expression`, each a formula, which may also say `a ?? b`: b
/// where the argument a is absent.
struct Composition {
  struct Local {
    std::string name;
    std::size_t offset = 0;
    Formula value;
  };
  std::vector<Local> locals;
  Formula result;
};

struct CompositionResult {
  Composition composition;
  std::vector<ExprError> errors;
  bool ok() const { return errors.empty(); }
};

CompositionResult parse_composition(const std::string& text);

/// Every expression, the result's last.
std::vector<Formula*> parts_of(Composition& composition);
std::vector<const Formula*> parts_of(const Composition& composition);

/// The tree in C++: where `x` of `optional` was tested, as in `x ? a : b`, a reads its value; `a ??
/// b` becomes the call `value_or(a, b)`.
Formula read_optionals(Formula tree, const std::vector<std::string>& optional);

/// In formulas and compositions `/` is true division, which C++'s of two integers is not: there
/// `true_quotient(a, b)` stands for it.
Formula with_true_division(Formula tree);

}  // namespace tenon::codegen::expr

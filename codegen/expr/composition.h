#pragma once

#include <string>
#include <vector>

#include "codegen/expr/formula.h"

namespace tenon::codegen::expr {

/// The tree in C++: where `x` of `optional` was tested, as in `x ? a : b`, a reads its value; `a ??
/// b` becomes the call `value_or(a, b)`.
Formula read_optionals(Formula tree, const std::vector<std::string>& optional);

/// In formulas and compositions `/` is true division, which C++'s of two integers is not: there
/// `true_quotient(a, b)` stands for it; and `%` has the divisor's sign: `true_remainder(a, b)`.
Formula with_true_division(Formula tree);

}  // namespace tenon::codegen::expr

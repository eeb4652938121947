#pragma once

#include <string>
#include <vector>

#include "codegen/expr/formulas/formula.h"

namespace tenon::codegen::expr {

/// The tree in C++: where `x` of `optional` was tested, as in `x ? a : b` or `check(x, ...); a`, a
/// reads its value; `a ??
/// b` becomes the call `value_or(a, b)`.
Formula read_optionals(Formula tree, const std::vector<std::string>& optional);

/// What the notation means where C++'s means something else. `/` is true division, which C++'s of
/// two integers is not: `true_quotient(a, b)` stands for it; `%` has the divisor's sign:
/// `true_remainder(a, b)`; an index out of range is an error of the operator `op`:
/// `list_element(list, i, ...)`; the size of a list is an int: `list_size(list)`; a check is a
/// macro, whose text begins with `[op] `.
Formula with_meaning_in_cpp(Formula tree, const std::string& op);

}  // namespace tenon::codegen::expr

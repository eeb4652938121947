#pragma once

#include "codegen/expr/formulas/formula.h"
#include "codegen/expr/graph/parse.h"

#include <optional>
#include <string>
#include <vector>

namespace tenon::codegen::expr {

/// The formula as a pointwise graph over `parameters` (tensors and scalars by name, `grad` and
/// `result` included as tensors), or nothing when it uses anything but pointwise functions,
/// methods and operators of the intrinsic table and `functions`. The operands' shapes are the
/// caller's to know: the conversion takes them as equal up to broadcasting.
std::optional<Expression> to_pointwise(const Formula& formula,
                                       const std::vector<Parameter>& parameters,
                                       const Functions& functions = {});

/// True if `to_pointwise` succeeds.
bool is_pointwise(const Formula& formula, const std::vector<Parameter>& parameters,
                  const Functions& functions = {});

}  // namespace tenon::codegen::expr

#pragma once

#include "codegen/emit/form.h"
#include "codegen/model/differentiability.h"

namespace tenon::codegen {

/// How forward mode computes the tangents of an entry's results, or null where it differentiates
/// backward: {"rule", "covered", "uncovered", "values", "formulas", "operators"}, see docs/ir.md.
/// `written` is what derivatives.yaml says of the operator; without it the derivative follows from
/// a pointwise expression.
Json emit_forward(const Operator& op, const Differentiability* written);

}  // namespace tenon::codegen

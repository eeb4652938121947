#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/node.h"
#include "codegen/model/differentiability.h"

namespace tenon::codegen {

/// How forward mode computes the tangents of an entry's results, or nothing where it differentiates
/// backward. `written` is what derivatives.yaml says of the operator; without it the derivative
/// follows from a pointwise expression. `operators`: what the formulas call, added.
std::optional<ir::Forward> emit_forward(const Operator& op, const Differentiability* written,
                                        std::vector<std::string>& operators);

}  // namespace tenon::codegen

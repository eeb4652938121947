#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/node.h"
#include "codegen/meaning/differentiability.h"

namespace tenon::codegen {

/// How forward mode computes the tangents of an entry's results, or nothing where it differentiates
/// backward. `written` is what derivatives.yaml says of the operator; without it the derivative
/// follows from the expression. `outputs`: which results are differentiable. `operators`: what the
/// formulas call, added.
std::optional<ir::Forward> emit_forward(const Operator& op, const Differentiability* written,
                                        const std::vector<bool>& outputs,
                                        std::vector<std::string>& operators);

}  // namespace tenon::codegen

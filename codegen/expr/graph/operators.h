#pragma once

#include "codegen/expr/graph/intrinsics.h"

#include <map>
#include <string_view>

namespace tenon::codegen::expr {

/// What an operator between two values computes; of conditions `&`, `|` and `^` are logical.
const std::map<std::string_view, Op>& binary_operators();

/// How a call of `op` is written: "/" of a division, "exp".
std::string_view symbol_of(Op op);

/// The logical operation of a bitwise one; other operations are themselves.
Op logical(Op op);

}  // namespace tenon::codegen::expr

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "codegen/expr/formulas/formula.h"
#include "codegen/model/operator.h"

// Questions about trees of compositions, for their fused parts.
namespace tenon::codegen::detail {

/// The tree without the parentheses around it.
const expr::Formula& inner(const expr::Formula& tree);
bool is_literal(const expr::Formula& tree, std::string_view text);
/// The whole number of a literal, with its sign.
std::optional<std::string> integer(const expr::Formula& tree);
/// A number that an expression has as it is written; a negative one is in parentheses.
std::optional<std::string> literal(const expr::Formula& tree);
/// Whether floating tensors of one dtype pass the check of an operator of Tenon's.
bool is_check_of_dtypes(const Operator& op);

}  // namespace tenon::codegen::detail

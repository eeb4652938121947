#pragma once

#include "codegen/expr/token.h"

#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen::expr {

/// Reports what other languages write and expressions do not: `a and b`, `x.exp()`, `torch.exp(x)`,
/// `a if c else b`. Puts `&&`, `||` and `!` in the place of their names; false if the tokens cannot
/// be parsed.
bool translate_foreign(std::vector<Token>& tokens, std::vector<ExprError>& errors);

/// The function that is meant by a name that is none here: `maximum` by `max`, or the nearest one.
std::string suggest_function(std::string_view name, const std::vector<std::string>& functions);

/// What to say of a function that no expression can have, such as `mean`; empty for others.
std::string why_no_function(std::string_view name);

/// "1.0" for `1.0f`; empty where something else is wrong with a number.
std::string without_suffix(const std::string& number);

}  // namespace tenon::codegen::expr

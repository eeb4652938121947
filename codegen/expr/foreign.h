#pragma once

#include "codegen/expr/formula.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen::expr {

/// `&&`, `||` or `!`, which another language writes as the word; empty for other words.
std::string operator_of_word(std::string_view word);

/// What is said of `torch.exp` and `at::exp`: the tree of the whole name, a member or a qualified
/// name; nothing where what stands before the function is no module.
std::optional<ExprError> module_mistake(const Formula& callee);

/// What is said of a name that stands for nothing.
ExprError unknown_name(const std::string& name, std::size_t offset,
                       const std::vector<std::string>& known);

/// What is said of locals of a text beside the names it knows already: one that is defined again,
/// one that nothing reads.
std::vector<ExprError> local_mistakes(const Formula& text, const std::vector<std::string>& known);

/// The function that is meant by a name that is none here: `maximum` by `max`, or the nearest one.
std::string suggest_function(std::string_view name, const std::vector<std::string>& functions);

/// The same in `rowwise`: `max` by `amax`.
std::string suggest_row_function(std::string_view name, const std::vector<std::string>& functions);

/// What to say of a function that no expression can have, such as `mean`; empty for others.
std::string why_no_function(std::string_view name);

/// "1.0" for `1.0f`; empty where something else is wrong with a number.
std::string without_suffix(const std::string& number);

}  // namespace tenon::codegen::expr

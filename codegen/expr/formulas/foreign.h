#pragma once

#include "codegen/expr/formulas/formula.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen::expr {

/// `&&`, `||` or `!`, which another language writes as the word; empty for other words.
std::string operator_of_word(std::string_view word);

/// `*` for a sign that looks like it in UTF-8; empty for other characters.
std::string sign_of_character(std::string_view character);

/// The one of `known` that is meant by the name of a value; maybe "".
std::string suggest_name(std::string_view name, const std::vector<std::string>& known);

/// What is said of `torch.exp` and `at::exp`: the tree of the whole name, a member or a qualified
/// name; nothing where what stands before the function is no module. `known` are names of values.
std::optional<ExprError> module_mistake(const Formula& callee,
                                        const std::vector<std::string>& known = {});

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

/// What is said of a number that is none: `1.0f`, `1e400`.
ExprError number_mistake(const std::string& number, std::size_t offset);

}  // namespace tenon::codegen::expr

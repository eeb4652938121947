#pragma once

#include "codegen/expr/formulas/formula.h"
#include "codegen/expr/graph/expr_error.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tenon::codegen::expr {

/// Arguments that decide, call by call, which part of a text is meant: those that may be absent,
/// `x ? a : b` and `x ?? b`, and texts, `mode == "word" ? a : b`. A text that may be absent is in
/// both sets.
struct SwitchArguments {
  std::set<std::string> optionals;
  std::set<std::string> texts;
  std::set<std::string> without_default;  ///< texts that every call gives
};

/// What one call gives them.
struct Choice {
  std::set<std::string> given;               ///< of the optionals, those that are there
  std::map<std::string, std::string> words;  ///< what texts say; none of one that is absent
};

/// The words that the text `name` is compared with, in the order in which they stand. None where it
/// is used in another way too.
std::vector<std::string> compared_words(const Formula& tree, const std::string& name);

/// Those of `names` that are the condition of a `x ? a : b`, or a part of it that `&&`, `||` and
/// `!` put together; with `or_replaced` those of `x ?? b` too.
std::set<std::string> tested_names(const Formula& tree, const std::set<std::string>& names,
                                   bool or_replaced = false);

/// What is said of the arguments other than a test or a comparison by itself.
std::vector<ExprError> switch_mistakes(const Formula& tree, const SwitchArguments& arguments);

/// A text as one call means it.
struct Chosen {
  std::string text;              ///< as long as the whole: what is not meant is spaces
  std::set<std::string> names;   ///< that stand in it
  std::set<std::string> absent;  ///< of these, the arguments that are not there
  /// The parts that are meant of those between which the call decides.
  std::set<const Formula*> parts;
};
Chosen choose(const std::string& text, const Formula& tree, const SwitchArguments& arguments,
              const Choice& choice);

/// What is said of parts of the tree that no call means: none of those that calls can decide for is
/// among `parts`.
std::vector<ExprError> unmeant_parts(const Formula& tree, const SwitchArguments& arguments,
                                     const std::set<const Formula*>& parts);

}  // namespace tenon::codegen::expr

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen::expr {

/// One mistake in an expression or formula. `offset` and `length` are bytes of the text that was
/// parsed; when several texts were parsed together, `text_index` says which. `suggestion` is the
/// nearest valid spelling, or empty.
struct ExprError {
  std::size_t offset = 0;
  std::size_t length = 1;
  std::string message;
  std::string suggestion;
  std::size_t text_index = 0;
};

/// The candidate nearest to `name` by edit distance (transpositions count one), or empty when none
/// is near enough to be a plausible typing mistake. Ties go to the first candidate.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

}  // namespace tenon::codegen::expr

#pragma once

#include <cstddef>
#include <string>

namespace tenon::codegen::expr {

/// One mistake in an expression or formula. `offset` and `length` are bytes of the text that was
/// parsed; when several texts were parsed together, `text_index` says which. `suggestion` is the
/// nearest valid spelling, or empty. What is said `elsewhere`, of a function where it is defined,
/// is not said again: the text has no meaning by it, and that is all.
struct ExprError {
  std::size_t offset = 0;
  std::size_t length = 1;
  std::string message;
  std::string suggestion;
  std::size_t text_index = 0;
  bool elsewhere = false;
};

}  // namespace tenon::codegen::expr

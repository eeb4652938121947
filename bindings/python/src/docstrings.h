#pragma once

#include <span>

namespace tenon::python {

/// What the sources say of an operator: shapes, and what is wrong with others.
struct Docstring {
  const char* name;
  const char* text;
};
/// In order of their names.
extern const std::span<const Docstring> kDocstrings;

}  // namespace tenon::python

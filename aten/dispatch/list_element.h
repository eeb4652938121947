#pragma once

#include <cstdint>

#include "aten/core/error.h"

namespace tenon::native {

/// `list[index]` as formulas and compositions mean it: of a list the element, counted from the end
/// where the index is negative, of a tensor what `x[index]` is. IndexError where there is none:
/// "[op] `list` has 2 elements, got the index 2".
template <class List>
auto list_element(const List& list, int64_t index, const char* op, const char* text) {
  if constexpr (requires { list.dim(); }) {
    return list[index];
  } else {
    const auto count = static_cast<int64_t>(list.size());
    TENON_CHECK_INDEX(index >= -count && index < count, "[", op, "] `", text, "` has ", count,
                      count == 1 ? " element" : " elements", ", got the index ", index);
    return list[static_cast<size_t>(index < 0 ? index + count : index)];
  }
}

/// `list.size()`, which for C++ has no sign and compares with numbers as if they had none.
template <class List>
int64_t list_size(const List& list) {
  return static_cast<int64_t>(list.size());
}

}  // namespace tenon::native

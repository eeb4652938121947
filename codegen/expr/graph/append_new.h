#pragma once

#include <algorithm>
#include <vector>

namespace tenon::codegen::expr {

/// Adds the item at the end of the list, unless the list has it.
template <class T>
void append_new(std::vector<T>& list, const T& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

}  // namespace tenon::codegen::expr

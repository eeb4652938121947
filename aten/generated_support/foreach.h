#pragma once

#include <cstddef>
#include <initializer_list>

#include "tenon/tensor.h"

/// What generated code has for `foreach`: operators of lists, one call for each place.
namespace tenon::native {

struct ListLength {
  const char* name;
  size_t length;
  bool may_be_empty;
};

/// The length that all lists have, but for those that may be empty and are. Throws where they
/// differ and where there is nothing in them.
TENON_API size_t places_of(const char* op, std::initializer_list<ListLength> lists);

/// Undefined where the list is empty.
inline Tensor element_if_any(TensorList list, size_t i) {
  return list.empty() ? Tensor() : list[i];
}

/// The element, which the expression reads. Throws where the list is empty.
TENON_API Tensor& present_element(const char* op, const char* name, Tensor& element, size_t places);

}  // namespace tenon::native

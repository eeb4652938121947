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

/// The length that all lists have, but for those that may be empty and are. Throws where they differ
/// and where there is nothing in them.
TENON_API size_t places_of(const char* op, std::initializer_list<ListLength> lists);

/// An element of a list that may be empty. Throws where it is.
TENON_API Tensor element_of(const char* op, const char* name, TensorList list, size_t i,
                            size_t places);

}  // namespace tenon::native

#include "aten/generated_support/foreach.h"

namespace tenon {

size_t native::places_of(const char* op, std::initializer_list<ListLength> lists) {
  const ListLength* first = nullptr;
  for (const ListLength& one : lists) {
    if (one.may_be_empty && one.length == 0) continue;
    if (first == nullptr) first = &one;
    TENON_CHECK(one.length == first->length, "[", op,
                "] lists must have the same number of elements, got ", first->length, " in ",
                first->name, " and ", one.length, " in ", one.name);
  }
  TENON_CHECK(first != nullptr && first->length != 0, "[", op,
              "] lists must have at least one element, got none");
  return first->length;
}

Tensor& native::present_element(const char* op, const char* name, Tensor& element, size_t places) {
  TENON_CHECK(element.defined(), "[", op, "] ", name,
              " must have as many elements as the other lists here, ", places, ", got none");
  return element;
}

}  // namespace tenon

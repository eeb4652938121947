#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <vector>

#include "aten/core/array_ref.h"

namespace tenon {

/// D numbers, given as D of them or as one that stands for all: kernel sizes, strides, padding.
template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(T one) { values_.fill(one); }
  /// ValueError unless there are D values, or one.
  ExpandingArray(std::initializer_list<T> values) : ExpandingArray(values.begin(), values.end()) {}
  ExpandingArray(const std::vector<T>& values) : ExpandingArray(values.begin(), values.end()) {}
  ExpandingArray(ArrayRef<T> values) : ExpandingArray(values.begin(), values.end()) {}
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  operator ArrayRef<T>() const { return {values_.data(), D}; }
  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  T operator[](size_t i) const { return values_[i]; }
  size_t size() const { return D; }
  bool operator==(const ExpandingArray&) const = default;

  /// Prints as `[5, 3]`, one number as `5`.
  friend std::ostream& operator<<(std::ostream& out, const ExpandingArray& array) {
    if constexpr (D == 1) return print(out, array[0]);
    out << '[';
    for (size_t i = 0; i < D; ++i) print(out << (i ? ", " : ""), array[i]);
    return out << ']';
  }

 private:
  template <class Iterator>
  ExpandingArray(Iterator begin, Iterator end) {
    const size_t count = size_t(end - begin);
    if (count == 1) {
      values_.fill(*begin);
      return;
    }
    TENON_CHECK_VALUE(count == D, "Expected ", D, " values, but instead got ", count);
    std::copy(begin, end, values_.begin());
  }

  template <class Value>
  static std::ostream& print(std::ostream& out, const Value& value) {
    if constexpr (requires { value.has_value(); }) {
      return value ? out << *value : out << "None";
    } else {
      return out << value;
    }
  }

  std::array<T, D> values_{};
};

/// The same of numbers that may be absent: sizes of which some are the input's.
template <size_t D, class T = int64_t>
class ExpandingArrayWithOptionalElem : public ExpandingArray<D, std::optional<T>> {
 public:
  using ExpandingArray<D, std::optional<T>>::ExpandingArray;
  ExpandingArrayWithOptionalElem(T one) : ExpandingArray<D, std::optional<T>>(std::optional(one)) {}
  ExpandingArrayWithOptionalElem(std::initializer_list<T> values)
      : ExpandingArrayWithOptionalElem(
            std::vector<std::optional<T>>(values.begin(), values.end())) {}
  ExpandingArrayWithOptionalElem(const std::vector<T>& values)
      : ExpandingArrayWithOptionalElem(
            std::vector<std::optional<T>>(values.begin(), values.end())) {}
};

}  // namespace tenon

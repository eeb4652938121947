#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>

#include "aten/core/array_ref.h"

namespace tenon {

/// D numbers, given as D of them or as one that stands for all: kernel sizes, strides, padding.
template <size_t D, class T = int64_t>
class ExpandingArray {
 public:
  ExpandingArray(T one) { values_.fill(one); }
  /// ValueError unless there are D values, or one.
  ExpandingArray(std::initializer_list<T> values) : ExpandingArray(ArrayRef<T>(values)) {}
  ExpandingArray(ArrayRef<T> values) {
    if (values.size() == 1) {
      values_.fill(values[0]);
      return;
    }
    TENON_CHECK_VALUE(values.size() == D, "Expected ", D, " values, but instead got ",
                      values.size());
    std::copy(values.begin(), values.end(), values_.begin());
  }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  operator ArrayRef<T>() const { return {values_.data(), D}; }
  const std::array<T, D>& operator*() const { return values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  size_t size() const { return D; }
  T operator[](size_t i) const { return values_[i]; }

  /// Prints as `5` where all values are equal, else as `[5, 3]`.
  friend std::ostream& operator<<(std::ostream& out, const ExpandingArray& array) {
    const auto& v = array.values_;
    const bool equal = std::all_of(v.begin(), v.end(), [&](T x) { return x == v[0]; });
    return equal ? out << v[0] : out << ArrayRef<T>(array);
  }

 private:
  std::array<T, D> values_;
};

}  // namespace tenon

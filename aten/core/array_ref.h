#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <ostream>
#include <vector>

#include "aten/core/error.h"

namespace tenon {

/// A view of `size` consecutive values owned by someone else, who must outlive it.
template <class T>
class ArrayRef {
 public:
  using value_type = T;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T* data, size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* begin, const T* end) : data_(begin), size_(end - begin) {}
  constexpr ArrayRef(const T& one) : data_(&one), size_(1) {}
  ArrayRef(const std::vector<T>& values) requires(!std::is_same_v<T, bool>)
      : data_(values.data()), size_(values.size()) {}
  template <size_t N>
  constexpr ArrayRef(const std::array<T, N>& values) : data_(values.data()), size_(N) {}
  template <size_t N>
  constexpr ArrayRef(const T (&values)[N]) : data_(values), size_(N) {}
#pragma GCC diagnostic push
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored \
    "-Winit-list-lifetime"  // a list lives to the end of the call it is passed to
#endif
  constexpr ArrayRef(const std::initializer_list<T>& values)
      : data_(values.size() == 0 ? nullptr : values.begin()), size_(values.size()) {}
#pragma GCC diagnostic pop

  constexpr const T* data() const { return data_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T& operator[](size_t i) const { return data_[i]; }
  constexpr const T& front() const { return data_[0]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr ArrayRef slice(size_t start, size_t count) const { return {data_ + start, count}; }
  constexpr ArrayRef slice(size_t start) const { return {data_ + start, size_ - start}; }
  /// IndexError if out of range.
  const T& at(size_t i) const {
    TENON_CHECK_INDEX(i < size_, "[ArrayRef] index ", i, " is out of range of ", size_, " values");
    return data_[i];
  }
  bool equals(ArrayRef other) const { return *this == other; }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

  friend constexpr bool operator==(ArrayRef a, ArrayRef b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i) {
      if (!(a.data_[i] == b.data_[i])) return false;
    }
    return true;
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};

/// Prints as `[2, 3]`.
template <class T>
std::ostream& operator<<(std::ostream& out, ArrayRef<T> values) {
  out << '[';
  for (size_t i = 0; i < values.size(); ++i) out << (i ? ", " : "") << values[i];
  return out << ']';
}

using IntArrayRef = ArrayRef<int64_t>;

/// `int[]?`: a list or nothing. Accepts everything an IntArrayRef accepts, a single number
/// included.
class OptionalIntArrayRef {
 public:
  constexpr OptionalIntArrayRef() = default;
  constexpr OptionalIntArrayRef(std::nullopt_t) {}
  constexpr OptionalIntArrayRef(IntArrayRef values) : values_(values) {}
  constexpr OptionalIntArrayRef(const int64_t& one) : values_(IntArrayRef(one)) {}
  OptionalIntArrayRef(const std::vector<int64_t>& values) : values_(values) {}
  OptionalIntArrayRef(const std::optional<std::vector<int64_t>>& values) {
    if (values) values_ = IntArrayRef(*values);
  }
  OptionalIntArrayRef(const std::optional<IntArrayRef>& values) : values_(values) {}
  template <size_t N>
  constexpr OptionalIntArrayRef(const std::array<int64_t, N>& values) : values_(values) {}
  constexpr OptionalIntArrayRef(const std::initializer_list<int64_t>& values) : values_(values) {}

  constexpr bool has_value() const { return values_.has_value(); }
  constexpr explicit operator bool() const { return has_value(); }
  constexpr const IntArrayRef& value() const { return values_.value(); }
  constexpr const IntArrayRef& operator*() const { return *values_; }
  constexpr const IntArrayRef* operator->() const { return &*values_; }

 private:
  std::optional<IntArrayRef> values_;
};

}  // namespace tenon

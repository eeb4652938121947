#pragma once

#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "aten/core/array_ref.h"

namespace tenon {

/// A vector whose first N values need no allocation.
template <class T, size_t N>
class SmallVector {
 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  SmallVector() = default;
  explicit SmallVector(size_t count) { resize(count); }
  SmallVector(size_t count, const T& value) {
    reserve(count);
    for (size_t i = 0; i < count; ++i) push_back(value);
  }
  SmallVector(std::initializer_list<T> values) { append(values.begin(), values.end()); }
  SmallVector(ArrayRef<T> values) { append(values.begin(), values.end()); }
  template <class It>
  SmallVector(It first, It last) {
    append(first, last);
  }
  SmallVector(const SmallVector& other) { append(other.begin(), other.end()); }
  SmallVector(SmallVector&& other) noexcept { take(other); }
  SmallVector& operator=(const SmallVector& other) {
    if (this != &other) {
      clear();
      append(other.begin(), other.end());
    }
    return *this;
  }
  SmallVector& operator=(SmallVector&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~SmallVector() { release(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  iterator begin() { return data_; }
  iterator end() { return data_ + size_; }
  const_iterator begin() const { return data_; }
  const_iterator end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }

  operator ArrayRef<T>() const { return {data_, size_}; }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }

  void reserve(size_t count) {
    if (count > capacity_) grow(count);
  }
  void push_back(const T& value) { emplace_back(value); }
  void push_back(T&& value) { emplace_back(std::move(value)); }
  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) {
      T value(std::forward<Args>(args)...);  // an argument may live in the old buffer
      grow(capacity_ * 2);
      return *::new (data_ + size_++) T(std::move(value));
    }
    return *::new (data_ + size_++) T(std::forward<Args>(args)...);
  }
  void pop_back() { data_[--size_].~T(); }
  void resize(size_t count) { resize(count, T()); }
  void resize(size_t count, const T& value) {
    reserve(count);
    while (size_ > count) pop_back();
    while (size_ < count) ::new (data_ + size_++) T(value);
  }
  template <class It>
  void append(It first, It last) {
    if constexpr (std::is_trivially_copyable_v<T> && std::is_pointer_v<It>) {
      const size_t count = static_cast<size_t>(last - first);
      reserve(size_ + count);
      for (size_t i = 0; i < count; ++i) data_[size_ + i] = first[i];
      size_ += static_cast<uint32_t>(count);
    } else {
      for (; first != last; ++first) emplace_back(*first);
    }
  }
  iterator insert(const_iterator where, std::initializer_list<T> values) {
    const auto at = where - begin();
    for (size_t i = 0; i < values.size(); ++i) insert(begin() + at + i, values.begin()[i]);
    return begin() + at;
  }
  iterator insert(const_iterator where, const T& value) {
    const size_t at = where - data_;
    T copy = value;
    emplace_back(std::move(copy));
    for (size_t i = size_ - 1; i > at; --i) std::swap(data_[i], data_[i - 1]);
    return data_ + at;
  }
  iterator erase(const_iterator where) {
    const size_t at = where - data_;
    for (size_t i = at; i + 1 < size_; ++i) data_[i] = std::move(data_[i + 1]);
    pop_back();
    return data_ + at;
  }
  void clear() {
    if constexpr (std::is_trivially_destructible_v<T>) {
      size_ = 0;
    } else {
      while (size_ > 0) pop_back();
    }
  }
  /// For values without constructors: `count` of them, the new ones not set.
  void resize_uninitialized(size_t count) requires std::is_trivially_copyable_v<T> {
    reserve(count);
    size_ = static_cast<uint32_t>(count);
  }

  friend bool operator==(const SmallVector& a, const SmallVector& b) {
    return ArrayRef<T>(a) == ArrayRef<T>(b);
  }
  friend std::ostream& operator<<(std::ostream& out, const SmallVector& values) {
    return out << ArrayRef<T>(values);
  }

 private:
  T* inline_data() { return reinterpret_cast<T*>(inline_); }

  void grow(size_t count) {
    T* fresh = static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(alignof(T))));
    for (size_t i = 0; i < size_; ++i) {
      ::new (fresh + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    free_heap();
    data_ = fresh;
    capacity_ = count;
  }
  void free_heap() {
    if (data_ != inline_data()) ::operator delete(data_, std::align_val_t(alignof(T)));
  }
  void release() {
    clear();
    free_heap();
    data_ = inline_data();
    capacity_ = N;
  }
  void take(SmallVector& other) {
    if (other.data_ != other.inline_data()) {
      data_ = std::exchange(other.data_, other.inline_data());
      size_ = std::exchange(other.size_, 0);
      capacity_ = std::exchange(other.capacity_, N);
      return;
    }
    append(std::make_move_iterator(other.begin()), std::make_move_iterator(other.end()));
    other.clear();
  }

  T* data_ = inline_data();
  uint32_t size_ = 0;
  uint32_t capacity_ = N;
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

/// Sizes, strides or dimensions of a tensor; up to five need no allocation.
using DimVector = SmallVector<int64_t, 5>;

}  // namespace tenon

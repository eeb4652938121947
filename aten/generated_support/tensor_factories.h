#pragma once

#include <cstring>
#include <functional>
#include <initializer_list>
#include <vector>

#include "aten/core/tensor_options.h"
#include "tenon/ops/to.h"
#include "tenon/tensor.h"

namespace tenon {

/// Nested braces of numbers, as `tensor({{1, 2}, {3, 4}})` takes them.
class TensorData {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T>) TensorData(T value) : dtype_(scalar_type_of<canonical<T>>) {
    // Numbers of one kind keep their bits: every int64 and every double survives.
    append(static_cast<canonical<T>>(value));
  }
  template <class T>
  TensorData(std::complex<T> value) : dtype_(scalar_type_of<std::complex<double>>) {
    append(std::complex<double>(value));
  }
  TENON_API TensorData(std::initializer_list<TensorData> items);

  IntArrayRef sizes() const { return sizes_; }
  ScalarType dtype() const { return dtype_; }
  const void* bytes() const { return bytes_.data(); }

 private:
  template <class T>
  using canonical = std::conditional_t<std::is_same_v<T, bool>, bool,
                                       std::conditional_t<std::is_integral_v<T>, int64_t, double>>;
  template <class T>
  void append(T value) {
    const size_t at = bytes_.size();
    bytes_.resize(at + sizeof(T));
    std::memcpy(bytes_.data() + at, &value, sizeof(T));
  }

  DimVector sizes_;
  ScalarType dtype_;
  std::vector<unsigned char> bytes_;
};

namespace detail {
TENON_API Tensor tensor_of(const void* data, ScalarType stored, IntArrayRef sizes,
                           ScalarType natural, const TensorOptions& options);
}

/// A new tensor of the numbers in braces: tensor({{1., 2.}, {3., 4.}}). Without a dtype in
/// `options` bools give Bool, integers Long, floating-point numbers the default dtype. ValueError
/// if the nesting is ragged.
TENON_API Tensor tensor(std::initializer_list<TensorData> values,
                        const TensorOptions& options = {});

/// A 0-dim tensor of one number.
template <class T>
requires(std::is_arithmetic_v<T>) Tensor tensor(T value, const TensorOptions& options = {}) {
  constexpr ScalarType natural = std::is_same_v<T, bool> ? kBool
                                 : std::is_integral_v<T> ? kLong
                                                         : kFloat;
  using Stored = std::conditional_t<std::is_same_v<T, bool>, bool,
                                    std::conditional_t<std::is_integral_v<T>, int64_t, double>>;
  const Stored stored = static_cast<Stored>(value);
  return detail::tensor_of(&stored, scalar_type_of<Stored>, {},
                           std::is_floating_point_v<T> ? get_default_dtype() : natural, options);
}

/// A 0-dim tensor of one complex number, whose natural dtype is T's.
template <class T>
Tensor tensor(std::complex<T> value, const TensorOptions& options = {}) {
  constexpr ScalarType stored = scalar_type_of<std::complex<T>>;
  return detail::tensor_of(&value, stored, {}, stored, options);
}

/// A 1-dim tensor with a copy of the values. Without a dtype in `options` int and int64_t give
/// Long, float and double the default dtype, other types T's.
template <class T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  const int64_t size = static_cast<int64_t>(values.size());
  constexpr ScalarType stored = scalar_type_of<T>;
  const ScalarType natural = stored == kInt                          ? kLong
                             : stored == kFloat || stored == kDouble ? get_default_dtype()
                                                                     : stored;
  return detail::tensor_of(values.data(), stored, size, natural, options);
}
template <class T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  return tensor(ArrayRef<T>(values), options);
}

/// A tensor over memory that the caller keeps alive; `deleter`, if given, runs when the last tensor
/// over it is gone. Strides are in elements; empty means row-major.
TENON_API Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                           std::function<void(void*)> deleter, const TensorOptions& options = {});
inline Tensor from_blob(void* data, IntArrayRef sizes, const TensorOptions& options = {}) {
  return from_blob(data, sizes, IntArrayRef(), nullptr, options);
}
inline Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                        const TensorOptions& options = {}) {
  return from_blob(data, sizes, strides, nullptr, options);
}
inline Tensor from_blob(void* data, IntArrayRef sizes, std::function<void(void*)> deleter,
                        const TensorOptions& options = {}) {
  return from_blob(data, sizes, IntArrayRef(), std::move(deleter), options);
}

}  // namespace tenon

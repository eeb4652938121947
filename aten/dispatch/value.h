#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "aten/core/array_ref.h"
#include "aten/core/generator.h"
#include "aten/core/scalar.h"
#include "aten/core/tensor_base.h"

namespace tenon {

/// An argument or result of a boxed call: one of the types of the schema language. `T?` is T or
/// none; ScalarType, Layout and MemoryFormat travel as the numbers PyTorch gives them.
class Value {
 public:
  using Ints = std::vector<int64_t>;
  using Doubles = std::vector<double>;
  using Bools = std::vector<bool>;
  using Scalars = std::vector<Scalar>;
  using Tensors = std::vector<TensorBase>;  ///< `Tensor[]` and `Tensor?[]` (undefined for none)
  using Variant =
      std::variant<std::monostate, TensorBase, bool, int64_t, double, Scalar, std::string, Ints,
                   Doubles, Bools, Scalars, Tensors, Device, Generator>;

  Value() = default;
  Value(std::nullopt_t) {}
  Value(TensorBase t) {
    if (t.defined()) value_ = std::move(t);
  }
  Value(bool v) : value_(v) {}
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) Value(T v)
      : value_(static_cast<int64_t>(v)) {}
  Value(double v) : value_(v) {}
  Value(Scalar v) : value_(v) {}
  Value(const char* v) : value_(std::string(v)) {}
  Value(std::string_view v) : value_(std::string(v)) {}
  Value(IntArrayRef v) : value_(v.vec()) {}
  Value(Ints v) : value_(std::move(v)) {}
  Value(Doubles v) : value_(std::move(v)) {}
  Value(Bools v) : value_(std::move(v)) {}
  Value(Scalars v) : value_(std::move(v)) {}
  Value(Tensors v) : value_(std::move(v)) {}
  Value(Device v) : value_(v) {}
  Value(Generator v) : value_(std::move(v)) {}
  Value(ScalarType t) : value_(static_cast<int64_t>(t)) {}
  Value(Layout l) : value_(static_cast<int64_t>(l)) {}
  Value(MemoryFormat m) : value_(static_cast<int64_t>(m)) {}

  bool is_none() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_tensor() const { return std::holds_alternative<TensorBase>(value_); }
  bool is_tensor_list() const { return std::holds_alternative<Tensors>(value_); }
  const Variant& variant() const { return value_; }

  /// Each of these throws TypeError "expected a value of type int, got a tensor" on a mismatch.
  TENON_API TensorBase to_tensor() const;  ///< undefined for none
  TENON_API bool to_bool() const;
  TENON_API int64_t to_int() const;
  TENON_API double to_double() const;
  TENON_API Scalar to_scalar() const;
  TENON_API const std::string& to_str() const;
  TENON_API Ints to_ints() const;  ///< a single number counts as a list of one
  TENON_API Doubles to_doubles() const;
  TENON_API Bools to_bools() const;
  TENON_API Scalars to_scalars() const;  ///< also of ints, floats and bools
  TENON_API const Tensors& to_tensors() const;
  TENON_API Device to_device() const;
  TENON_API Generator to_generator() const;
  template <class E>
  E to_enum() const {
    return static_cast<E>(to_int());
  }
  /// "none", "tensor", "int", ...
  TENON_API const char* type_name() const;

 private:
  Variant value_;
};

using Stack = std::vector<Value>;

}  // namespace tenon

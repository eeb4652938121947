#pragma once

#include <complex>
#include <type_traits>

#include "aten/core/scalar_type.h"

namespace tenon {

/// A number that is an operator's argument: bool, integer, floating point or complex.
class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  Scalar(bool value) : kind_(Kind::Bool) { int_ = value; }
  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) Scalar(T value) : kind_(Kind::Int) {
    int_ = static_cast<int64_t>(value);
  }
  template <class T>
  requires(std::is_floating_point_v<T>) Scalar(T value) : kind_(Kind::Double) {
    real_ = static_cast<double>(value);
  }
  Scalar(Half value) : Scalar(static_cast<float>(value)) {}
  Scalar(BFloat16 value) : Scalar(static_cast<float>(value)) {}
  template <class T>
  Scalar(std::complex<T> value) : kind_(Kind::Complex), imag_(value.imag()) {
    real_ = value.real();
  }

  bool is_boolean() const { return kind_ == Kind::Bool; }
  /// Integers; bool only if `include_bool`.
  bool is_integral(bool include_bool) const {
    return kind_ == Kind::Int || (include_bool && kind_ == Kind::Bool);
  }
  bool is_floating_point() const { return kind_ == Kind::Double; }
  bool is_complex() const { return kind_ == Kind::Complex; }
  bool isBoolean() const { return is_boolean(); }
  bool isIntegral(bool include_bool) const { return is_integral(include_bool); }
  bool isFloatingPoint() const { return is_floating_point(); }
  bool isComplex() const { return is_complex(); }
  /// Bool, Long, Double or ComplexDouble.
  ScalarType type() const {
    switch (kind_) {
    case Kind::Bool: return ScalarType::Bool;
    case Kind::Int: return ScalarType::Long;
    case Kind::Double: return ScalarType::Double;
    case Kind::Complex: break;
    }
    return ScalarType::ComplexDouble;
  }

  /// The value as T, converted as C++ converts numbers; the imaginary part is dropped for a real T.
  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>) {
      using R = typename T::value_type;
      return T(static_cast<R>(real()), static_cast<R>(kind_ == Kind::Complex ? imag_ : 0.0));
    } else if constexpr (std::is_same_v<T, bool>) {
      return is_int() ? int_ != 0 : (real_ != 0 || (kind_ == Kind::Complex && imag_ != 0));
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return T(static_cast<float>(real()));
    } else if constexpr (std::is_integral_v<T>) {
      return is_int() ? static_cast<T>(int_) : static_cast<T>(static_cast<int64_t>(real_));
    } else {
      return is_int() ? static_cast<T>(int_) : static_cast<T>(real_);
    }
  }
  double toDouble() const { return to<double>(); }
  int64_t toLong() const { return to<int64_t>(); }
  int toInt() const { return to<int>(); }
  float toFloat() const { return to<float>(); }
  bool toBool() const { return to<bool>(); }
  std::complex<double> toComplexDouble() const { return to<std::complex<double>>(); }

  Scalar operator-() const {
    // The least number is its own negative, as in PyTorch.
    if (is_int()) return Scalar(static_cast<int64_t>(0 - static_cast<uint64_t>(int_)));
    if (kind_ == Kind::Complex) return Scalar(-toComplexDouble());
    return Scalar(-real_);
  }
  Scalar conj() const {
    return kind_ == Kind::Complex ? Scalar(std::conj(toComplexDouble())) : *this;
  }
  /// Equal as numbers, whatever the kinds.
  bool equal(const Scalar& other) const {
    if (is_int() && other.is_int()) return int_ == other.int_;
    return toComplexDouble() == other.toComplexDouble();
  }

 private:
  enum class Kind : uint8_t { Bool, Int, Double, Complex };

  bool is_int() const { return kind_ == Kind::Bool || kind_ == Kind::Int; }
  double real() const { return is_int() ? static_cast<double>(int_) : real_; }

  union {
    int64_t int_;
    double real_;
  };
  Kind kind_;
  double imag_ = 0;
};

inline std::ostream& operator<<(std::ostream& out, const Scalar& s) {
  if (s.is_boolean()) return out << (s.toBool() ? "true" : "false");
  if (s.is_integral(false)) return out << s.toLong();
  if (s.is_complex()) return out << s.toComplexDouble();
  return out << s.toDouble();
}

}  // namespace tenon

#pragma once

#include <complex>
#include <cstdint>
#include <ostream>
#include <string_view>

#include "aten/core/error.h"
#include "aten/core/half.h"

namespace tenon {

/// Element type of a tensor. The numbers are PyTorch's, since files and exchange formats carry
/// them.
enum class ScalarType : int8_t {
  Byte = 0,
  Char = 1,
  Short = 2,
  Int = 3,
  Long = 4,
  Half = 5,
  Float = 6,
  Double = 7,
  ComplexHalf = 8,
  ComplexFloat = 9,
  ComplexDouble = 10,
  Bool = 11,
  BFloat16 = 15,
  Float8_e5m2 = 23,
  Float8_e4m3fn = 24,
  Float8_e5m2fnuz = 25,
  Float8_e4m3fnuz = 26,
  UInt16 = 27,
  UInt32 = 28,
  UInt64 = 29,
  Undefined = 44,
};
using Dtype = ScalarType;

inline constexpr ScalarType kByte = ScalarType::Byte, kUInt8 = kByte;
inline constexpr ScalarType kChar = ScalarType::Char, kInt8 = kChar;
inline constexpr ScalarType kShort = ScalarType::Short, kInt16 = kShort;
inline constexpr ScalarType kInt = ScalarType::Int, kInt32 = kInt;
inline constexpr ScalarType kLong = ScalarType::Long, kInt64 = kLong;
inline constexpr ScalarType kHalf = ScalarType::Half, kFloat16 = kHalf;
inline constexpr ScalarType kFloat = ScalarType::Float, kFloat32 = kFloat;
inline constexpr ScalarType kDouble = ScalarType::Double, kFloat64 = kDouble;
inline constexpr ScalarType kComplexHalf = ScalarType::ComplexHalf;
inline constexpr ScalarType kComplexFloat = ScalarType::ComplexFloat;
inline constexpr ScalarType kComplexDouble = ScalarType::ComplexDouble;
inline constexpr ScalarType kBool = ScalarType::Bool;
inline constexpr ScalarType kBFloat16 = ScalarType::BFloat16;
inline constexpr ScalarType kFloat8_e5m2 = ScalarType::Float8_e5m2;
inline constexpr ScalarType kFloat8_e4m3fn = ScalarType::Float8_e4m3fn;
inline constexpr ScalarType kFloat8_e5m2fnuz = ScalarType::Float8_e5m2fnuz;
inline constexpr ScalarType kFloat8_e4m3fnuz = ScalarType::Float8_e4m3fnuz;
inline constexpr ScalarType kUInt16 = ScalarType::UInt16;
inline constexpr ScalarType kUInt32 = ScalarType::UInt32;
inline constexpr ScalarType kUInt64 = ScalarType::UInt64;

/// TENON_FORALL_TYPES(M): M(C++ type, enumerator) for every element type that operators compute
/// with.
#define TENON_FORALL_INTEGRAL(M) \
  M(uint8_t, Byte) M(int8_t, Char) M(int16_t, Short) M(int32_t, Int) M(int64_t, Long)
#define TENON_FORALL_FLOATING(M) M(float, Float) M(double, Double)
#define TENON_FORALL_REDUCED_FLOATING(M) M(::tenon::Half, Half) M(::tenon::BFloat16, BFloat16)
#define TENON_FORALL_COMPLEX(M) \
  M(std::complex<float>, ComplexFloat) M(std::complex<double>, ComplexDouble)
#define TENON_FORALL_TYPES(M) \
  TENON_FORALL_INTEGRAL(M)    \
  M(bool, Bool) TENON_FORALL_FLOATING(M) TENON_FORALL_REDUCED_FLOATING(M) TENON_FORALL_COMPLEX(M)
/// Element types that are stored, viewed and moved but not computed with: M(C++ type of the bits,
/// enumerator).
#define TENON_FORALL_STORAGE_ONLY(M) \
  M(uint8_t, Float8_e5m2)            \
  M(uint8_t, Float8_e4m3fn)          \
  M(uint8_t, Float8_e5m2fnuz)        \
  M(uint8_t, Float8_e4m3fnuz)        \
  M(uint16_t, UInt16) M(uint32_t, UInt32) M(uint64_t, UInt64) M(uint32_t, ComplexHalf)

template <class T>
struct ScalarTypeOf;
#define TENON_MAP(T, Name)                                \
  template <>                                             \
  struct ScalarTypeOf<T> {                                \
    static constexpr ScalarType value = ScalarType::Name; \
  };
TENON_FORALL_TYPES(TENON_MAP)
#undef TENON_MAP
/// The element type that C++ type T is stored as.
template <class T>
inline constexpr ScalarType scalar_type_of = ScalarTypeOf<T>::value;

/// Bytes of one element; 0 for Undefined.
constexpr size_t element_size(ScalarType t) {
  switch (t) {
#define TENON_CASE(T, Name) \
  case ScalarType::Name: return sizeof(T);
    TENON_FORALL_TYPES(TENON_CASE)
    TENON_FORALL_STORAGE_ONLY(TENON_CASE)
#undef TENON_CASE
  case ScalarType::Undefined: break;
  }
  return 0;
}

/// PyTorch's name of the type: "Float", "Long", ...
constexpr const char* to_string(ScalarType t) {
  switch (t) {
#define TENON_CASE(T, Name) \
  case ScalarType::Name: return #Name;
    TENON_FORALL_TYPES(TENON_CASE)
    TENON_FORALL_STORAGE_ONLY(TENON_CASE)
#undef TENON_CASE
  case ScalarType::Undefined: break;
  }
  return "Undefined";
}
inline std::ostream& operator<<(std::ostream& out, ScalarType t) { return out << to_string(t); }

constexpr bool is_complex(ScalarType t) {
  return t >= ScalarType::ComplexHalf && t <= ScalarType::ComplexDouble;
}
constexpr bool is_float8(ScalarType t) {
  return t >= ScalarType::Float8_e5m2 && t <= ScalarType::Float8_e4m3fnuz;
}
constexpr bool is_wide_unsigned(ScalarType t) {
  return t >= ScalarType::UInt16 && t <= ScalarType::UInt64;
}
/// Byte and UInt16 to UInt64.
constexpr bool is_unsigned(ScalarType t) { return t == ScalarType::Byte || is_wide_unsigned(t); }
/// Whether tensors of the type can be stored, viewed and copied only: every other operator throws.
constexpr bool is_storage_only(ScalarType t) {
  return is_float8(t) || is_wide_unsigned(t) || t == ScalarType::ComplexHalf;
}
constexpr bool is_floating_point(ScalarType t) {
  return t == ScalarType::Float || t == ScalarType::Double || t == ScalarType::Half ||
         t == ScalarType::BFloat16 || is_float8(t);
}
constexpr bool is_reduced_floating_point(ScalarType t) {
  return t == ScalarType::Half || t == ScalarType::BFloat16;
}
/// Whether t counts: Byte to Long, UInt16 to UInt64; Bool only if `include_bool`.
constexpr bool is_integral(ScalarType t, bool include_bool) {
  return static_cast<int8_t>(t) <= static_cast<int8_t>(ScalarType::Long) || is_wide_unsigned(t) ||
         (include_bool && t == ScalarType::Bool);
}
constexpr bool is_differentiable(ScalarType t) { return is_floating_point(t) || is_complex(t); }
/// ComplexHalf -> Half, ComplexFloat -> Float, ComplexDouble -> Double, else itself.
constexpr ScalarType to_real(ScalarType t) {
  return t == ScalarType::ComplexFloat    ? ScalarType::Float
         : t == ScalarType::ComplexDouble ? ScalarType::Double
         : t == ScalarType::ComplexHalf   ? ScalarType::Half
                                          : t;
}
/// Half -> ComplexHalf, Double -> ComplexDouble, other real types -> ComplexFloat, complex types ->
/// themselves.
constexpr ScalarType to_complex(ScalarType t) {
  return is_complex(t)             ? t
         : t == ScalarType::Double ? ScalarType::ComplexDouble
         : t == ScalarType::Half   ? ScalarType::ComplexHalf
                                   : ScalarType::ComplexFloat;
}

/// The dtype of a floating-point tensor when none is given: Float unless changed.
TENON_API ScalarType get_default_dtype();
TENON_API void set_default_dtype(ScalarType t);

/// The smallest type both fit in: the promotion lattice of PyTorch. Symmetric, associative. A
/// storage-only type promotes with itself alone: NotImplementedError otherwise.
TENON_API ScalarType promote_types(ScalarType a, ScalarType b);
/// Whether a result of type `from` may be stored into `to`: the category (bool < integer < float <
/// complex) may not drop, and nothing but bool itself goes into bool.
TENON_API bool can_cast(ScalarType from, ScalarType to);

/// Calls `f.template operator()<T>()` with the C++ type of `type`, or throws NotImplementedError
/// "[name] is not implemented for Long" if the macro's list lacks it.
#define TENON_DISPATCH_CASE(T, Name)                      \
  case ::tenon::ScalarType::Name: {                       \
    using scalar_t = T;                                   \
    return dispatch_body.template operator()<scalar_t>(); \
  }
#define TENON_DISPATCH_SWITCH(type, name, CASES, ...)                                              \
  [&] {                                                                                            \
    const auto dispatch_body = [&]<class scalar_t>() __VA_ARGS__;                                  \
    switch (type) {                                                                                \
      CASES                                                                                        \
    default:                                                                                       \
      ::tenon::detail::raise<::tenon::NotImplementedError>("[", name, "] is not implemented for ", \
                                                           ::tenon::to_string(type));              \
    }                                                                                              \
  }()
/// TENON_DISPATCH_FLOATING(dtype, "op", { ... scalar_t ... }): Float and Double.
#define TENON_DISPATCH_FLOATING(type, name, ...) \
  TENON_DISPATCH_SWITCH(type, name, TENON_FORALL_FLOATING(TENON_DISPATCH_CASE), __VA_ARGS__)
#define TENON_DISPATCH_FLOATING_AND_REDUCED(type, name, ...)                    \
  TENON_DISPATCH_SWITCH(type, name,                                             \
                        TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)              \
                            TENON_FORALL_REDUCED_FLOATING(TENON_DISPATCH_CASE), \
                        __VA_ARGS__)
#define TENON_DISPATCH_FLOATING_AND_COMPLEX(type, name, ...)           \
  TENON_DISPATCH_SWITCH(type, name,                                    \
                        TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)     \
                            TENON_FORALL_COMPLEX(TENON_DISPATCH_CASE), \
                        __VA_ARGS__)
#define TENON_DISPATCH_INTEGRAL(type, name, ...) \
  TENON_DISPATCH_SWITCH(type, name, TENON_FORALL_INTEGRAL(TENON_DISPATCH_CASE), __VA_ARGS__)
/// Every real type, Bool included.
#define TENON_DISPATCH_REAL(type, name, ...)                                                       \
  TENON_DISPATCH_SWITCH(type, name,                                                                \
                        TENON_FORALL_INTEGRAL(TENON_DISPATCH_CASE) TENON_DISPATCH_CASE(bool, Bool) \
                            TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)                             \
                                TENON_FORALL_REDUCED_FLOATING(TENON_DISPATCH_CASE),                \
                        __VA_ARGS__)
#define TENON_DISPATCH_ALL(type, name, ...) \
  TENON_DISPATCH_SWITCH(type, name, TENON_FORALL_TYPES(TENON_DISPATCH_CASE), __VA_ARGS__)

}  // namespace tenon

#include "aten/iterator/storage_only.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <type_traits>

namespace tenon::native {
namespace {

/// A sign bit, an exponent and a fraction. Open Compute Project, "8-bit floating point
/// specification"; the formats without a negative zero have NaN in its place.
struct Float8 {
  int bias;
  int fraction;     // bits
  uint8_t largest;  // the largest finite number
  uint8_t beyond;   // what larger ones become
  uint8_t nan;
  bool negative_zero;
};

constexpr Float8 format_of(ScalarType type) {
  switch (type) {
  case kFloat8_e5m2: return {15, 2, 0x7b, 0x7c, 0x7f, true};
  case kFloat8_e4m3fn: return {7, 3, 0x7e, 0x7e, 0x7f, true};
  case kFloat8_e5m2fnuz: return {16, 2, 0x7f, 0x80, 0x80, false};
  default: return {8, 3, 0x7f, 0x80, 0x80, false};
  }
}

uint8_t encode(float value, const Float8& format) {
  if (std::isnan(value)) return format.nan;
  const double magnitude = std::fabs(static_cast<double>(value));
  const uint8_t sign = std::signbit(value) ? 0x80 : 0;
  uint64_t bits = 0x80;
  if (std::isfinite(value) && magnitude < 0x1p20) {
    const int lowest = 1 - format.bias;
    const int exponent = magnitude > 0 ? std::max(std::ilogb(magnitude), lowest) : lowest;
    // In units of the last place; a carry goes into the exponent as it should.
    const auto units =
        static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, format.fraction - exponent)));
    bits = units + (static_cast<uint64_t>(exponent - lowest) << format.fraction);
  }
  if (bits > format.largest) {
    return format.negative_zero ? static_cast<uint8_t>(sign | format.beyond) : format.beyond;
  }
  if (bits == 0 && !format.negative_zero) return 0;
  return static_cast<uint8_t>(sign | bits);
}

double decode(uint8_t bits, const Float8& format) {
  const uint8_t magnitude = bits & 0x7f;
  const double sign = bits & 0x80 ? -1 : 1;
  if (!format.negative_zero && bits == format.nan) return std::numeric_limits<double>::quiet_NaN();
  if (magnitude > format.largest) {
    return magnitude == format.nan || magnitude != format.beyond
               ? std::numeric_limits<double>::quiet_NaN()
               : sign * std::numeric_limits<double>::infinity();
  }
  const int exponent = magnitude >> format.fraction;
  const int fraction = magnitude & ((1 << format.fraction) - 1);
  const int units = exponent == 0 ? fraction : fraction + (1 << format.fraction);
  return sign * std::ldexp(units, std::max(exponent, 1) - format.bias - format.fraction);
}

std::complex<float> complex_of_halves(const void* from) {
  Half parts[2];
  std::memcpy(parts, from, sizeof parts);
  return {static_cast<float>(parts[0]), static_cast<float>(parts[1])};
}

uint32_t halves_of_complex(float real, float imag) {
  const Half parts[] = {Half(real), Half(imag)};
  uint32_t bits;
  std::memcpy(&bits, parts, sizeof bits);
  return bits;
}

/// Element i of dtype `Type`, T in memory: float8 as the number it is, complex numbers as their
/// real part.
template <class T, ScalarType Type>
auto read_element(const void* from, int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(from) + i * sizeof(T), sizeof(T));
  if constexpr (Type == kComplexHalf) {
    return complex_of_halves(&value).real();
  } else if constexpr (is_float8(Type)) {
    return static_cast<float>(decode(value, format_of(Type)));
  } else if constexpr (is_complex(Type)) {
    return value.real();
  } else if constexpr (is_reduced_floating_point(Type)) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <class T, ScalarType Type, class S>
T element_of_number(S value) {
  if constexpr (Type == kComplexHalf) {
    return halves_of_complex(static_cast<float>(value), 0);
  } else if constexpr (is_float8(Type)) {
    return encode(static_cast<float>(value), format_of(Type));
  } else if constexpr (is_complex(Type)) {
    return T(static_cast<typename T::value_type>(value));
  } else if constexpr (is_reduced_floating_point(Type)) {
    return T(static_cast<float>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<T>) {
    if (std::is_same_v<T, uint64_t> && value >= S(0x1p63)) return static_cast<T>(value);
    return static_cast<T>(static_cast<int64_t>(value));
  } else {
    return static_cast<T>(value);
  }
}

/// A complex number of another dtype, of which one is of halves, whose type here is uint32_t.
template <class D, class S>
D complex_element(const void* from) {
  if constexpr (std::is_same_v<S, uint32_t>) {
    if constexpr (std::is_same_v<D, uint32_t>) {
      D bits;
      std::memcpy(&bits, from, sizeof bits);
      return bits;
    } else {
      return D(complex_of_halves(from));
    }
  } else {
    S value;
    std::memcpy(&value, from, sizeof value);
    return halves_of_complex(static_cast<float>(value.real()), static_cast<float>(value.imag()));
  }
}

template <class D, ScalarType To, class S, ScalarType From>
void convert_stored(void* dst, const void* src, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    D value;
    if constexpr (is_complex(From) && is_complex(To)) {
      value = complex_element<D, S>(static_cast<const char*>(src) + i * sizeof(S));
    } else {
      value = element_of_number<D, To>(read_element<S, From>(src, i));
    }
    std::memcpy(static_cast<char*>(dst) + i * sizeof(D), &value, sizeof(D));
  }
}

template <class D, ScalarType To>
Converter pick_stored_source(ScalarType src) {
  switch (src) {
#define TENON_PICK(S, Name) \
  case ScalarType::Name: return &convert_stored<D, To, S, ScalarType::Name>;
    TENON_FORALL_STORAGE_ONLY(TENON_PICK)
#undef TENON_PICK
  default: break;
  }
  if constexpr (is_storage_only(To)) {
    switch (src) {
#define TENON_PICK(S, Name) \
  case ScalarType::Name: return &convert_stored<D, To, S, ScalarType::Name>;
      TENON_FORALL_TYPES(TENON_PICK)
#undef TENON_PICK
    default: break;
    }
  }
  return nullptr;
}

}  // namespace

Converter storage_only_converter(ScalarType dst, ScalarType src) {
  Converter found = nullptr;
  switch (dst) {
#define TENON_PICK(D, Name) \
  case ScalarType::Name: found = pick_stored_source<D, ScalarType::Name>(src); break;
    TENON_FORALL_TYPES(TENON_PICK)
    TENON_FORALL_STORAGE_ONLY(TENON_PICK)
#undef TENON_PICK
  default: break;
  }
  TENON_CHECK_NOT_IMPLEMENTED(found, "[copy_] is not implemented from ", src, " to ", dst);
  return found;
}

void store_storage_only(void* to, const Scalar& value, ScalarType type) {
  uint64_t bits = 0;
  if (type == kComplexHalf) {
    const std::complex<double> number = value.toComplexDouble();
    bits = halves_of_complex(static_cast<float>(number.real()), static_cast<float>(number.imag()));
  } else if (is_float8(type)) {
    bits = encode(value.toFloat(), format_of(type));
  } else if (value.is_integral(true) || value.toDouble() < 0x1p63) {
    bits = static_cast<uint64_t>(value.toLong());
  } else {
    bits = static_cast<uint64_t>(value.toDouble());
  }
  std::memcpy(to, &bits, element_size(type));
}

Scalar storage_only_value(const void* from, ScalarType type) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, element_size(type));
  if (type == kComplexHalf) return std::complex<double>(complex_of_halves(&bits));
  if (is_float8(type)) return decode(static_cast<uint8_t>(bits), format_of(type));
  TENON_CHECK_NOT_IMPLEMENTED(bits >> 63 == 0,
                              "[item] a UInt64 of 2^63 or more is not implemented, got ", bits);
  return static_cast<int64_t>(bits);
}

}  // namespace tenon::native

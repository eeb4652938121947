#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "aten/core/macros.h"

namespace tenon {

/// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits. Arithmetic happens in float.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  TENON_HOST_DEVICE explicit Half(float value) : bits(from_float(value)) {}
  TENON_HOST_DEVICE operator float() const { return to_float(bits); }
  static TENON_HOST_DEVICE Half from_bits(uint16_t b) {
    Half h;
    h.bits = b;
    return h;
  }

  /// Rounds to nearest, ties to even; overflow gives infinity; NaN stays NaN.
  static TENON_HOST_DEVICE uint16_t from_float(float value) {
    const uint32_t f = __builtin_bit_cast(uint32_t, value);
    const uint32_t sign = (f >> 16) & 0x8000u;
    const uint32_t magnitude = f & 0x7fffffffu;
    if (magnitude >= 0x7f800000u) {
      return static_cast<uint16_t>(sign | (magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u));
    }
    if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);
    if (magnitude < 0x38800000u) {
      // Adding 0.5 lets the float unit do the denormal's rounding: its last bit is then 2^-24.
      const float shifted = __builtin_bit_cast(float, magnitude) + 0.5f;
      return static_cast<uint16_t>(sign | (__builtin_bit_cast(uint32_t, shifted) - 0x3f000000u));
    }
    const uint32_t odd = (magnitude >> 13) & 1u;
    return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
  }

  static TENON_HOST_DEVICE float to_float(uint16_t h) {
    const uint32_t sign = static_cast<uint32_t>(h & 0x8000u) << 16;
    const uint32_t exponent = (h >> 10) & 0x1fu;
    const uint32_t fraction = h & 0x3ffu;
    if (exponent == 0) {
      const float value = static_cast<float>(fraction) * 0x1p-24f;
      return __builtin_bit_cast(float, __builtin_bit_cast(uint32_t, value) | sign);
    }
    if (exponent == 31) return __builtin_bit_cast(float, sign | 0x7f800000u | (fraction << 13));
    return __builtin_bit_cast(float, sign | ((exponent + 112) << 23) | (fraction << 13));
  }
};

/// The upper half of a float: 1 sign, 8 exponent, 7 fraction bits. Arithmetic happens in float.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  TENON_HOST_DEVICE explicit BFloat16(float value) : bits(from_float(value)) {}
  TENON_HOST_DEVICE operator float() const {
    return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
  }
  static TENON_HOST_DEVICE BFloat16 from_bits(uint16_t b) {
    BFloat16 h;
    h.bits = b;
    return h;
  }

  /// Rounds to nearest, ties to even; NaN stays NaN.
  static TENON_HOST_DEVICE uint16_t from_float(float value) {
    const uint32_t f = __builtin_bit_cast(uint32_t, value);
    if ((f & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((f >> 16) | 0x40u);
    return static_cast<uint16_t>((f + 0x7fffu + ((f >> 16) & 1u)) >> 16);
  }
};

}  // namespace tenon

#pragma once

#include <bit>
#include <cstdint>

#include "aten/core/macros.h"

namespace tenon::cuda {

/// Division of numbers below 2^31 by a constant: n / d = (n + mulhi(n, magic)) >> shift.
struct Divisor {
  uint32_t value, magic, shift;

  Divisor() = default;
  explicit Divisor(uint32_t d)
      : value(d), magic(0), shift(static_cast<uint32_t>(std::bit_width(d - 1))) {
    if (d > 1)
      magic = static_cast<uint32_t>(((uint64_t{1} << 32) * ((uint64_t{1} << shift) - d)) / d + 1);
  }
  TENON_HOST_DEVICE uint32_t quotient(uint32_t n) const {
    return value == 1 ? n : (n + static_cast<uint32_t>((uint64_t{n} * magic) >> 32)) >> shift;
  }
};

}  // namespace tenon::cuda

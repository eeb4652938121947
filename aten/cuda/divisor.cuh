#pragma once

#include <bit>
#include <cstdint>

#include "aten/core/macros.h"
#include "aten/cuda/index_limit.h"

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

/// The size of a dimension, by which indices are taken apart: by multiplication where all are below
/// the index limit.
struct Extent {
  int64_t size;
  Divisor divisor;
  bool small;

  Extent() = default;
  /// For indices below `limit`.
  Extent(int64_t size, int64_t limit) : size(size), divisor(1), small(limit < index_limit()) {
    if (small && size > 0) divisor = Divisor(static_cast<uint32_t>(size));
  }
  TENON_HOST_DEVICE int64_t quotient(int64_t index) const {
    return small ? divisor.quotient(static_cast<uint32_t>(index)) : index / size;
  }
  /// index % size; leaves the quotient in `index`.
  TENON_HOST_DEVICE int64_t take(int64_t& index) const {
    const int64_t next = quotient(index), at = index - next * size;
    index = next;
    return at;
  }
};

}  // namespace tenon::cuda

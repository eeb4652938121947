#pragma once

#include "aten/cuda/divisor.cuh"
#include "aten/cuda/index_limit.h"

namespace tenon::cuda {

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

#pragma once

#include <atomic>
#include <cstdint>

#include "aten/core/parallel.h"
#include "aten/core/tensor_base.h"

namespace tenon::native {

/// Whether all of n indices lie in [0, length).
inline bool all_in_range(const int64_t* index, int64_t n, int64_t length) {
  std::atomic<bool> outside{false};
  parallel_for(0, n, 65536, [&](int64_t begin, int64_t end) {
    // The top bit of i or of length - 1 - i is set where i lies outside: no comparison, which plain
    // vectors of 64 bits lack.
    const uint64_t last = static_cast<uint64_t>(length) - 1;
    uint64_t bits = 0;
    for (int64_t i = begin; i < end; ++i) {
      const auto at = static_cast<uint64_t>(index[i]);
      bits |= at | (last - at);
    }
    if (bits >> 63 != 0) outside = true;
  });
  return !outside;
}

/// The indices of a contiguous int64 tensor. With `wrap` they may count from the end. Error
/// "[index_add] index 3 is out of bounds for dimension 0 with size 3".
inline const int64_t* checked_indices(const char* op, const TensorBase& index, int64_t length,
                                      int64_t dim, bool wrap) {
  auto* p = static_cast<int64_t*>(index.mutable_data_ptr());
  if (!wrap && all_in_range(p, index.numel(), length)) return p;
  for (int64_t k = 0; k < index.numel(); ++k) {
    TENON_CHECK_INDEX(p[k] >= (wrap ? -length : 0) && p[k] < length, "[", op, "] index ", p[k],
                      " is out of bounds for dimension ", dim, " with size ", length);
  }
  return p;
}

}  // namespace tenon::native

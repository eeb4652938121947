#pragma once

#include <atomic>
#include <cstdint>

#include "aten/core/parallel.h"

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

}  // namespace tenon::native

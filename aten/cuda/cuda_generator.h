#pragma once

#include <optional>

#include "aten/core/generator.h"
#include "aten/cuda/philox.cuh"

namespace tenon::cuda {

/// Takes `words` (rounded up to a multiple of 4) 32-bit numbers of every thread from the generator
/// given, or from the device's default one. Error "[op] expected a generator of cuda:0, got one of
/// cpu".
TENON_API PhiloxState reserve(const char* op, const std::optional<Generator>& given, Device device,
                              uint64_t words);

/// How many threads draw n numbers and how often each draws a block of Philox, as in PyTorch: of
/// `count` numbers of a block, thread t uses the k-th of its turn r for element
/// (r * count + k) * threads + t.
struct DrawGrid {
  int64_t blocks;  ///< of kBlock threads
  uint64_t turns;
  /// What one draw takes of each thread's stream.
  uint64_t words() const { return turns * 4; }
};
TENON_API DrawGrid draw_grid(int64_t n, int count, int device_index);

}  // namespace tenon::cuda

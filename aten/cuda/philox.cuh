#pragma once

#include <cstdint>

#include "aten/core/macros.h"

namespace tenon::cuda {

/// Four 32-bit random numbers: a block.
struct Words {
  uint32_t x[4];
};
inline constexpr int kFloatsPerBlock = 4, kDoublesPerBlock = 2;

/// Philox4x32-10 of Salmon, Moraes, Dror and Shaw ("Parallel random numbers: as easy as 1, 2, 3",
/// 2011): ten rounds of a keyed bijection of a 128-bit counter.
TENON_HOST_DEVICE inline Words philox4x32(uint64_t counter_low, uint64_t counter_high,
                                          uint64_t key) {
  uint32_t c0 = static_cast<uint32_t>(counter_low), c1 = static_cast<uint32_t>(counter_low >> 32);
  uint32_t c2 = static_cast<uint32_t>(counter_high), c3 = static_cast<uint32_t>(counter_high >> 32);
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xd2511f53u} * c0, p1 = uint64_t{0xcd9e8d57u} * c2;
    const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0,
                   n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c1 = static_cast<uint32_t>(p1);
    c3 = static_cast<uint32_t>(p0);
    c0 = n0;
    c2 = n2;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return {{c0, c1, c2, c3}};
}

/// A piece of a generator's stream. As in PyTorch and cuRAND, thread t of a kernel draws the blocks
/// of counter (offset / 4 + n, t), n = 0, 1, ..., under the key `seed`.
struct PhiloxState {
  uint64_t seed, offset;  ///< offset: in 32-bit words of each thread, a multiple of 4

  TENON_HOST_DEVICE Words block(uint64_t thread, uint64_t n) const {
    return philox4x32(offset / 4 + n, thread, seed);
  }
};

}  // namespace tenon::cuda

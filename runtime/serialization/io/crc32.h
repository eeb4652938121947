#pragma once

#include <cstddef>
#include <cstdint>

#include "aten/core/macros.h"

namespace tenon::serialization {

/// Continues a CRC-32 (that of ZIP, zlib and PNG), which starts from 0, over `data`.
TENON_API uint32_t crc32(uint32_t crc, const void* data, size_t bytes);

/// The CRC-32 of two pieces, one after the other, from those of each.
TENON_API uint32_t crc32_combine(uint32_t first, uint32_t second, uint64_t second_bytes);

/// Bytes that are read or written and summed in one go: what one does is still in the cache when
/// the other comes.
inline constexpr size_t kCrcChunk = 1024 * 1024;

namespace detail {

/// The ways in which a processor can compute it; each continues the inverted CRC.
using Crc32Update = uint32_t (*)(uint32_t state, const uint8_t* data, size_t bytes);
struct Crc32Kernel {
  const char* name;
  Crc32Update update;
  bool supported;
};
/// Fastest first; the last one needs nothing.
TENON_API const Crc32Kernel (&crc32_kernels())[3];

}  // namespace detail
}  // namespace tenon::serialization

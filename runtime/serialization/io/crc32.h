#pragma once

#include <cstddef>
#include <cstdint>

namespace tenon::serialization {

/// Continues a CRC-32 (that of ZIP, zlib and PNG), which starts from 0, over `data`.
uint32_t crc32(uint32_t crc, const void* data, size_t bytes);

}  // namespace tenon::serialization

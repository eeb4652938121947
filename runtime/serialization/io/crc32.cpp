#include "runtime/serialization/io/crc32.h"

#include "tenon/config.h"

#if TENON_HAS_ZLIB
#include <zlib.h>
#else
#include <array>
#endif

namespace tenon::serialization {

#if TENON_HAS_ZLIB

uint32_t crc32(uint32_t crc, const void* data, size_t bytes) {
  return static_cast<uint32_t>(::crc32_z(crc, static_cast<const Bytef*>(data), bytes));
}

#else

// Reflected polynomial 0xEDB88320, one byte at a time: archives stay readable where zlib is not
// built in.
uint32_t crc32(uint32_t crc, const void* data, size_t bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> t;
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ (c & 1 ? 0xEDB88320u : 0u);
      t[i] = c;
    }
    return t;
  }();
  crc = ~crc;
  for (const auto* p = static_cast<const uint8_t*>(data); bytes > 0; --bytes)
    crc = (crc >> 8) ^ table[(crc ^ *p++) & 255];
  return ~crc;
}

#endif

}  // namespace tenon::serialization

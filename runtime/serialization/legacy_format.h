#pragma once

#include <cstdint>
#include <string_view>

/// The format that PyTorch wrote before 1.6: consecutive pickles of a magic number, a version, a
/// description of the system, the object and the sorted keys of its storages; then for each key the
/// number of elements, 64 bits, and the elements, all little-endian.
namespace tenon::serialization::legacy {

/// 0x1950a86a20f9469cfc6c, two's complement, least significant byte first.
inline constexpr std::string_view kMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);
inline constexpr int64_t kProtocol = 1001;

}  // namespace tenon::serialization::legacy

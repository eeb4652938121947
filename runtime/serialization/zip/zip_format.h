#pragma once

#include <cstdint>
#include <cstring>
#include <string>

/// The parts of the ZIP format that PyTorch's archives use (PKWARE APPNOTE 6.3.3). All numbers are
/// little-endian.
namespace tenon::serialization::zip {

inline constexpr uint32_t kLocalHeader = 0x04034b50;
inline constexpr uint32_t kDescriptor = 0x08074b50;
inline constexpr uint32_t kCentralEntry = 0x02014b50;
inline constexpr uint32_t kEnd64 = 0x06064b50;
inline constexpr uint32_t kEnd64Locator = 0x07064b50;
inline constexpr uint32_t kEnd = 0x06054b50;

inline constexpr size_t kLocalHeaderBytes = 30;
inline constexpr size_t kCentralEntryBytes = 46;
inline constexpr size_t kEnd64Bytes = 56;
inline constexpr size_t kEnd64LocatorBytes = 20;
inline constexpr size_t kEndBytes = 22;

inline constexpr uint16_t kUtf8Names = 0x0800;
inline constexpr uint16_t kHasDescriptor = 0x0008;
inline constexpr uint16_t kEncrypted = 0x0001;

inline constexpr uint16_t kStored = 0;
inline constexpr uint16_t kDeflated = 8;

inline constexpr uint16_t kZip64Field = 1;
inline constexpr uint16_t kPaddingField = 0x4246;  // "FB"
inline constexpr uint32_t kIn64 = 0xFFFFFFFF;      // the true number is in the zip64 field
inline constexpr uint64_t kAlignment = 64;

/// Appends a number's bytes.
template <class T>
void put(std::string& to, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    to.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
}

template <class T>
T get(const char* from) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(from[i])) << (8 * i);
  return static_cast<T>(value);
}

}  // namespace tenon::serialization::zip

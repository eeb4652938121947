#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tenon::hub::test {

/// An entry of an archive, true or not.
struct ZipEntry {
  std::string name;
  std::string data{};            ///< as it lies in the archive
  uint32_t unix_mode = 0100644;  ///< 0: the entry is not from Unix
  uint16_t method = 0;           ///< 0 stored, 8 deflated
  uint32_t size = UINT32_MAX;    ///< what the entry says; UINT32_MAX: the data's
  uint32_t crc = 0;              ///< 0: that of the data
  uint16_t flags = 0;
};

/// An archive written by the format's description (PKWARE APPNOTE 6.3.3), without any check.
std::string zip_bytes(const std::vector<ZipEntry>& entries);

}  // namespace tenon::hub::test

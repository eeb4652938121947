#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/serialization/io/byte_source.h"

namespace tenon::hub {

/// What the directory of a zip archive says about an entry.
struct ZipEntry {
  std::string name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  uint32_t unix_mode = 0;  ///< type and permissions; 0 where the writer was not of Unix
  uint64_t packed_bytes = 0;
  uint64_t bytes = 0;
  uint64_t header = 0;  ///< offset of the local header
  uint64_t data = 0;    ///< offset of the data
};

/// The entries in order. Bounds, local headers and overlaps are checked; names are not. Error names
/// the file and what is wrong.
std::vector<ZipEntry> read_zip_directory(const serialization::ByteSource& file);

}  // namespace tenon::hub

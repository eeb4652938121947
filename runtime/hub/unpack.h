#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tenon::hub {

/// What an archive may make of itself.
struct UnpackLimits {
  uint64_t bytes;              ///< of all files
  uint64_t entries = 200'000;  ///< files and folders, those included that only names mention
  size_t path_bytes = 1000;    ///< of a name within the archive's folder
  size_t depth = 64;           ///< parts of such a name
};

/// Unpacks a zip archive whose entries are all in one folder; what is in that folder comes to be in
/// `folder`, which must not exist. The whole directory of the archive is checked before the first
/// byte is written; files are written as they are read, a piece at a time. Error for a damaged
/// archive; absolute paths, "..", backslashes and control characters in a name; symbolic links and
/// special files; two entries of one name; more than the limits allow.
void unpack(const std::string& archive, const std::string& folder, const UnpackLimits& limits);

}  // namespace tenon::hub

#pragma once

#include <cstdint>
#include <string>

namespace tenon::hub {

/// Unpacks a zip archive whose entries are all in one folder; what is in that folder comes to be in
/// `folder`, which must not exist. The whole directory of the archive is checked before the first
/// byte is written. Error for a damaged archive; absolute paths, "..", backslashes and control
/// characters in a name; symbolic links and special files; two entries of one name; more than
/// `max_bytes` in all.
void unpack(const std::string& archive, const std::string& folder, uint64_t max_bytes);

}  // namespace tenon::hub

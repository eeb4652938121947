#pragma once

#include <string>

namespace tenon::serialization::detail {

/// The folder that a path's last part is in, "." for a bare name.
std::string parent_of(const std::string& path);

/// The file that a path means: where a symbolic link leads, be there a file or not yet. OSError if
/// the links go round in a circle.
std::string target_of(const std::string& path);

/// Makes a folder unless it is there; with `durable` a new one is on the disk then. OSError "[save]
/// cannot make 'x': ..." if its parent is missing or the system refuses.
void make_folder(const std::string& path, bool durable);

/// Waits until the names in a folder are on the disk. False, with errno, if that fails. A folder
/// that may not be read, or of a file system that does not know of such a thing, is left to the
/// system.
bool sync_folder(const std::string& path);

}  // namespace tenon::serialization::detail

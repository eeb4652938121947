#pragma once

#include <string>

namespace tenon::serialization::detail {

/// A file `path` + ".tmp.<process>.<number>" that is locked as long as its descriptor is open: that
/// is how others tell a living writer from a dead one. Of a name that would become too long the
/// beginning is taken.
struct TemporaryFile {
  std::string path;
  int descriptor = -1;

  /// With the permissions `mode` less the umask. OSError if the system cannot create it.
  static TemporaryFile create(const std::string& path, unsigned mode);
};

/// Removes the temporary files of `path` whose writers are gone. What cannot be removed stays.
void remove_stale_temporaries(const std::string& path) noexcept;

}  // namespace tenon::serialization::detail

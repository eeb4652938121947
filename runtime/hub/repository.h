#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/hub/download.h"

namespace tenon::hub {

/// Whether a repository may be downloaded. Those that may are in the file "trusted_list" in
/// get_dir(); one that is in the cache, as the note in its folder says, counts as trusted.
enum class TrustRepo : uint8_t {
  Check,  ///< asks if the repository is not trusted yet
  Yes,    ///< trusts it from now on
  No      ///< asks each time
};

struct RepositoryOptions {
  /// "github"; "local", which makes the repository a folder's path; or the URL of a server that has
  /// archives at "<URL>/owner/name/archive/<ref>.zip", as GitHub's and Gitea's own servers do.
  std::string source = "github";
  TrustRepo trust_repo = TrustRepo::Check;
  /// Asks the user a question. Null: on the terminal; without one, nobody is asked and the answer
  /// is no.
  std::function<bool(const std::string& question)> ask{};
  /// Downloads although the repository is in the cache.
  bool force_reload = false;
  /// Does not ask GitHub whether the ref belongs to this repository rather than to a fork of it.
  bool skip_validation = false;
  /// Of the archive and of what it holds.
  uint64_t max_archive_bytes = uint64_t{1} << 30;
  uint64_t max_unpacked_bytes = uint64_t{4} << 30;
  /// Files and folders that it holds.
  uint64_t max_entries = 200'000;
  DownloadOptions download{};
};

/// The folder of a repository "owner/name" or "owner/name:ref", downloaded unless it is in the
/// cache as get_dir()/owner_name_ref. The ref is a branch, a tag or a commit; without one it is
/// main if that exists, else master, and where the network does not answer whichever is in the
/// cache. Nothing in the folder is executed.
///
/// ValueError for a malformed name and `Unknown source: "x"`. Error "Untrusted repository." if it
/// is not trusted, "Cannot find REF in ..." if the ref is not of this repository, and for an
/// archive that is damaged, too large, or has symbolic links or paths that lead out of it.
/// HttpError and TransportError of downloads.
TENON_API std::string get_repository(const std::string& repository,
                                     const RepositoryOptions& options = {});

}  // namespace tenon::hub

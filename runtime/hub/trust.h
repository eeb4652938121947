#pragma once

#include <string>

#include "runtime/hub/repository.h"

namespace tenon::hub {

/// Error "[hub] Untrusted repository. ..." unless the repository is trusted or the user says so
/// now. `id` is its line in the list, `cached` whether it is in the cache.
void check_trust(const std::string& repository, const std::string& id, bool cached,
                 const RepositoryOptions& options);

}  // namespace tenon::hub

#pragma once

#include "runtime/hub/download.h"
#include "runtime/hub/repository_name.h"

namespace tenon::hub {

/// Asks GitHub's API whether the ref is a branch, a tag, or the commit that one of them stands at:
/// GitHub serves commits of every fork under the name of the original. A token in the environment
/// variable GITHUB_TOKEN goes along. Error "[hub] Cannot find REF in ..."; HttpError where the rate
/// limit is exceeded; TransportError.
void check_ref(const RepositoryName& repository, const DownloadOptions& options);

}  // namespace tenon::hub

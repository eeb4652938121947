#pragma once

#include "runtime/hub/transport.h"

namespace tenon::hub {

/// A GET of a http or https URL with libcurl. In a build without it, an Error.
void curl_get(const Request& request, Receiver& receiver);

}  // namespace tenon::hub

#pragma once

#include <vector>

#include "codegen/model/diagnostic.h"

namespace tenon::codegen {

/// Every rule that a message may cite, sorted by id: those of the loader, of codegen/check, of the
/// emitter and of check-kernels.
const std::vector<Rule>& all_rules();

}  // namespace tenon::codegen

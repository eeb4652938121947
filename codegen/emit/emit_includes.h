#pragma once

#include <string>
#include <vector>

#include "codegen/ir/library.h"

namespace tenon::codegen {

/// The headers that the file of some operators includes, in their order. Files of other templates
/// name their headers themselves.
std::vector<std::string> emit_includes(const ir::File& file,
                                       const std::vector<ir::Entry>& operators);

}  // namespace tenon::codegen

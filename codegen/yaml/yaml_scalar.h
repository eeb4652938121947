#pragma once

#include <string>

#include "codegen/yaml/source_file.h"

namespace tenon::codegen {

/// The decoded `value` of the YAML scalar that starts at `mark` (an anchor or tag before it
/// included), with the place of each of its bytes. YAML folds lines, drops indentation and resolves
/// escapes; this walks source and value side by side to find out where each byte came from.
SourceString locate_scalar(const SourceFile& file, Location mark, const std::string& value);

}  // namespace tenon::codegen

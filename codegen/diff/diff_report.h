#pragma once

#include <iosfwd>
#include <vector>

#include "codegen/diff/change.h"

namespace tenon::codegen {

/// One line per change, `file:line:column: breaks callers: add.Tensor: message [kind]`, and a
/// summary.
void print_changes(const std::vector<Change>& changes, std::ostream& out);

/// {"version", "compatible", "changes": [{"kind", "operator", "breaks", "message", "file", "line",
/// "column"}]}
void print_changes_json(const std::vector<Change>& changes, std::ostream& out);

bool is_compatible(const std::vector<Change>& changes);

}  // namespace tenon::codegen

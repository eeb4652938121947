#pragma once

#include <optional>

#include "codegen/ir/library.h"

namespace tenon::codegen {

/// The C++ of an entry whose `composite` is an expression; empty for others.
std::optional<ir::Composition> emit_composition(const Operator& op);

}  // namespace tenon::codegen

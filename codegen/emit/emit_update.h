#pragma once

#include "codegen/ir/kernel.h"

namespace tenon::codegen {

/// A `pointwise` entry that writes arguments.
ir::Update emit_update(const Operator& op);

}  // namespace tenon::codegen

#pragma once

#include "codegen/ir/library.h"
#include "codegen/optimizers/optimizer.h"

namespace tenon::codegen::optimizers {

/// Adds the optimizers, which have passed the checks, and their files to the library.
void emit_optimizers(const std::vector<Optimizer>& optimizers, const Model& model, bool python,
                     ir::Library& library);

}  // namespace tenon::codegen::optimizers

#pragma once

#include "codegen/optimizers/optimizer.h"

namespace tenon::codegen::optimizers {

/// Types of options, names in expressions, and calls: their operators and what these take.
void check_optimizer(const Optimizer& optimizer, const Model& model, DiagnosticSink& sink);

}  // namespace tenon::codegen::optimizers

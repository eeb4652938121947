#pragma once

#include <ostream>

#include "codegen/optimizers/optimizer.h"

namespace tenon::codegen::optimizers {

/// Prints what follows from the entry of `name`: its classes and files, options, state, the
/// operator that a step calls with its expressions. False if there is no such optimizer.
bool explain_optimizer(const std::vector<Optimizer>& optimizers, const Model& model,
                       const std::string& name, std::ostream& out);

}  // namespace tenon::codegen::optimizers

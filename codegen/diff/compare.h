#pragma once

#include <vector>

#include "codegen/diff/change.h"
#include "codegen/model/model.h"

namespace tenon::codegen {

/// Everything that changes for users between two versions of a set of operators, sorted: what
/// breaks first, then by operator. Derivatives are compared where `with_derivatives`: the files
/// that declare them were read for both.
std::vector<Change> compare_models(const Model& before, const Model& after, bool with_derivatives);

}  // namespace tenon::codegen

#pragma once

#include <string>

#include "codegen/ir/library.h"

namespace tenon::codegen::ir {

/// The JSON document that README.md describes: on one line, or with `indent` spaces for each
/// level.
std::string print(const Library& library, int indent = -1);

}  // namespace tenon::codegen::ir

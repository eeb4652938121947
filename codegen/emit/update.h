#pragma once

#include "codegen/emit/form.h"

namespace tenon::codegen {

/// A `pointwise` entry that writes arguments.
///   {"written": every argument that is, "reads": every tensor, "kernels": [...], "operators"}
/// A kernel is one of emit_kernel's, for one set of optional tensors, and
///   "given", "absent"   names of optional tensors
///   "written"           names of its outputs
///   "numbers"           [{"name", "text"}]: its scalars, C++ of the call's arguments
///   "composed"          C++ of each output, made of operators
Json emit_update(const Operator& op);

}  // namespace tenon::codegen

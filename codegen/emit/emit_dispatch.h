#pragma once

#include "codegen/ir/form.h"
#include "codegen/meaning/kernel_declarations.h"
#include "codegen/model/model.h"

namespace tenon::codegen {

/// How each backend runs a form: thunks (functions of the operators' source file) and the table
/// that names them.
ir::Dispatch emit_dispatch(const Model& model, size_t op_index, size_t form_index,
                           const Targets& targets);

}  // namespace tenon::codegen

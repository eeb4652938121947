#pragma once

#include <string>

#include "codegen/emit/form.h"

namespace tenon::codegen {

/// How a hand-written function is defined: "void native::mm_cpu(const Tensor& self, ...)", as it is
/// written in the operator's namespace. `form` is the entry's own form, as emit_form() gives it,
/// and `declaration` one of emit_kernel_declarations().
std::string kernel_signature(const Json& form, const Json& declaration);

}  // namespace tenon::codegen

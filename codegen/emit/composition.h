#pragma once

#include "codegen/emit/form.h"

namespace tenon::codegen {

/// The C++ of an entry whose `composite` is an expression, null for others: {"locals": [{"name",
/// "text"}], "result", "operators": functions that it calls, "kernel": the same as one expression
/// of elements, or null}.
Json emit_composition(const Operator& op);

}  // namespace tenon::codegen

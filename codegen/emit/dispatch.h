#pragma once

#include "codegen/emit/form.h"

namespace tenon::codegen {

/// Backends for which kernels are generated and declared, in the order of their table slots.
struct Targets {
  bool cuda = false;
};

/// How each backend runs a form, as thunks (functions of the operators' source file) and the table
/// that names them:
///   {"thunks": [{"symbol", "kind", "kernel", "meta", ...}], "table": {"None": symbol, "CPU": ...}}
/// Kinds: `direct` (a hand-written function of the same parameters), `pointwise`, `structured`,
/// `inplace_from_functional` and `out_from_functional` (by calling the functional form and
/// copying).
Json emit_dispatch(const Model& model, size_t op_index, size_t form_index, const Targets& targets);

/// Hand-written functions that the entry expects, to be declared for their authors:
///   [{"name", "kind": "function" | "meta" | "structured", "backend"}]
Json emit_kernel_declarations(const Operator& op, const Targets& targets);

}  // namespace tenon::codegen

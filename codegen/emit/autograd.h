#pragma once

#include "codegen/emit/form.h"
#include "codegen/model/model.h"

namespace tenon::codegen {

/// How a form is recorded, or null when calls pass the autograd layer by:
///   {"kind": "functional" | "inplace" | "out", "differentiable": bool}
/// In-place forms that are not differentiable, and out forms, are only checked. In-place forms also
/// have "changes_geometry": what they change is what self shows of its memory, not its elements;
/// and "constant": of an expression without derivative the name of the node that stands for it.
/// `node` is what emit_node() gave for the entry: its derived in-place form records the same node.
Json emit_autograd(const Model& model, size_t op_index, size_t form_index, const Json& node);

/// The backward node of an entry, or null. "kernels" are pointwise kernels as emit_kernel gives
/// them. Expressions and formulas are taken to be correct: the checks have seen them.
Json emit_node(const Model& model, size_t op_index);

}  // namespace tenon::codegen

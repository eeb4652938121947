#pragma once

#include <optional>

#include "codegen/ir/form.h"
#include "codegen/ir/node.h"
#include "codegen/model/model.h"

namespace tenon::codegen {

/// How a form is recorded, or nothing when calls pass the autograd layer by. In-place forms that
/// are not differentiable, and out forms, are only checked. `node` is what emit_node() gave for the
/// entry: its derived in-place form records the same node.
std::optional<ir::Autograd> emit_autograd(const Model& model, size_t op_index, size_t form_index,
                                          const std::optional<ir::Node>& node);

/// The backward node of an entry, if it has one. Expressions and formulas are taken to be correct:
/// the checks have seen them.
std::optional<ir::Node> emit_node(const Model& model, size_t op_index);

}  // namespace tenon::codegen

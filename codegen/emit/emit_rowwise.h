#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/node.h"
#include "codegen/model/operator.h"

namespace tenon::codegen {

/// The forward part of a `rowwise` entry.
ir::Rowwise emit_rowwise(const Operator& op);

/// Whether the operators that stand for its functions are the entry's own, as argmax is of
/// `argmax(self)`: a device without a row kernel has nothing to make it of.
bool is_made_of_itself(const Operator& op);

/// What the node of a `rowwise` entry computes, and the names of what it keeps.
struct RowwiseGradients {
  ir::RowGradients gradients;
  std::vector<std::string> saved;    ///< arguments and results
  std::vector<bool> differentiable;  ///< each result
};
/// Empty where no gradient is needed. `outputs`: which results have one.
std::optional<RowwiseGradients>
emit_rowwise_gradients(const Operator& op, const std::vector<bool>& outputs,
                       const std::function<size_t(const std::string&)>& input_index);

/// Tangents of the results that have one, as operators compute them; `called`: these, added.
/// Nothing where a call says the dtype or may leave out a number: forward mode differentiates
/// backward then.
std::optional<ir::Forward> emit_rowwise_forward(const Operator& op,
                                                const std::vector<bool>& outputs,
                                                std::vector<std::string>& called);

/// C++ of the call's RowShape.
std::string row_shape_text(const Operator& op);

}  // namespace tenon::codegen

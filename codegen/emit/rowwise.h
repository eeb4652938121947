#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/rows.h"
#include "codegen/model/operator.h"

namespace tenon::codegen {

/// The forward part of a `rowwise` entry.
ir::Rowwise emit_rowwise(const Operator& op);

/// What the node of a `rowwise` entry computes, and the names of what it keeps.
struct RowwiseGradients {
  ir::RowGradients gradients;
  std::vector<std::string> saved;  ///< arguments and results
};
/// Empty where no gradient is needed.
std::optional<RowwiseGradients>
emit_rowwise_gradients(const Operator& op,
                       const std::function<size_t(const std::string&)>& input_index);

/// C++ of the call's RowShape.
std::string row_shape_text(const Operator& op);

}  // namespace tenon::codegen

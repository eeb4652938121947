#pragma once

#include "codegen/emit/form.h"
#include "codegen/model/differentiability.h"

namespace tenon::codegen {

/// The forward part of a `rowwise` entry.
///   {"shape", "kernel", "composed": [{"kind", "text"}], "conversions": [...], "operators",
///    "readable"}
/// A row kernel:
///   {"ident", "inputs": [{"name", "kind", "position", "absent"}], "scalars", "outputs": [{"kind",
///    "dtype"}], "num_spills", "floating", "needs_elements", "uses_index", "types", "num_passes",
///    "steps": [{"kind", "loads", "statements", "values", "reductions", "stores", "spills",
///    "position", "needed"}]}
Json emit_rowwise(const Operator& op);

/// What the node of a `rowwise` entry computes, and the names of what it keeps; null
/// where no gradient is needed.
///   {"kernel", "gradients": [{"input", "kind", "text", "readable"}], "conversions", "operators"}
struct RowwiseGradients {
  Json json;
  std::vector<std::string> saved;  ///< arguments and results
};
RowwiseGradients emit_rowwise_gradients(const Operator& op);

/// C++ of the call's RowShape.
std::string row_shape_text(const Operator& op);

}  // namespace tenon::codegen

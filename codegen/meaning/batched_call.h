#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/model/operator.h"

namespace tenon::codegen {

/// Of `batched: cumsum(self, dim + 1)` in the entry of cumsum: the arguments that are one more,
/// `dim`. Nothing for any other expression.
std::optional<std::vector<std::string>> moved_dimensions(const Operator& op);

/// Name of the hidden operator that `batched` is, if it is not the operator itself:
/// "mine::_sort_rows_batched".
std::string batched_name(const Operator& op);

}  // namespace tenon::codegen

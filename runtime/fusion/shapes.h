#pragma once

#include <optional>
#include <vector>

#include "aten/core/array_ref.h"

/// Sizes of operands when an elementwise operator is computed in another shape.
namespace tenon::fusion {

/// An operand of these sizes is broadcast to `shape`. Elements of `shape` are seen in another one,
/// `source`, in the same order. The sizes that the operand then has; nothing if no sizes say the
/// same, as for one row of a matrix that `source` flattens.
///
///     sizes [1024, 1], shape [256, 1024, 16], source [256, 32, 32, 16]: [32, 32, 1]
TENON_API std::optional<std::vector<int64_t>> sizes_in_shape(IntArrayRef sizes, IntArrayRef shape,
                                                             IntArrayRef source);

}  // namespace tenon::fusion

#pragma once

#include "aten/core/tensor_base.h"

namespace tenon::native {

/// For every row along dimension dim the largest (smallest) value and the index where it first is;
/// NaN counts as larger (smaller) than anything. Either output may be undefined. The dimension is
/// not empty.
void arg_extreme(const TensorBase& self, int64_t dim, bool max, const TensorBase& values,
                 const TensorBase& indices);

}  // namespace tenon::native

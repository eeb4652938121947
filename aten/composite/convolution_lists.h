#pragma once

#include "aten/core/small_vector.h"

namespace tenon::native {

/// One value per spatial dimension from a list of one or of all.
inline DimVector per_dimension(const char* op, const char* name, IntArrayRef values, int64_t dims) {
  if (values.size() == 1) return DimVector(static_cast<size_t>(dims), values[0]);
  TENON_CHECK(static_cast<int64_t>(values.size()) == dims, "[", op, "] expected ", name,
              " to be a single integer value or a list of ", dims,
              " values to match the convolution dimensions, but got ", name, "=", values);
  return DimVector(values);
}

}  // namespace tenon::native

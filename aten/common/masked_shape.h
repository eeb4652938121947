#pragma once

#include <algorithm>

#include "aten/core/tensor_base.h"

namespace tenon::native {

/// The shape that masked_select's operands have together; errors where the mask is not of Bool, or
/// elsewhere, or they do not broadcast.
inline DimVector masked_shape(const TensorBase& self, const TensorBase& mask) {
  TENON_CHECK(mask.scalar_type() == kBool, "[masked_select] expected BoolTensor for mask, got ",
              mask.scalar_type());
  TENON_CHECK(self.device() == mask.device(),
              "[masked_select] expected self and mask on one device, got ", self.device(), " and ",
              mask.device());
  DimVector shape(static_cast<size_t>(std::max(self.dim(), mask.dim())));
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto at = [&](const TensorBase& t) {
      const int64_t d = t.dim() - static_cast<int64_t>(shape.size() - i);
      return d < 0 ? int64_t{1} : t.sizes()[d];
    };
    const int64_t a = at(self), b = at(mask);
    TENON_CHECK(a == b || a == 1 || b == 1, "[masked_select] The size of tensor a (", a,
                ") must match the size of tensor b (", b, ") at non-singleton dimension ", i);
    shape[i] = a == 1 ? b : a;
  }
  return shape;
}

}  // namespace tenon::native

#include "tenon/native/_log_softmax.h"

namespace tenon {

/// Same shape; Half to Float if `half_to_float`.
TensorSpec native::_log_softmax_meta(const Tensor& self, int64_t dim, bool half_to_float) {
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(self.scalar_type()),
                              "[_log_softmax] is not implemented for ", self.scalar_type());
  TENON_CHECK(!half_to_float || self.scalar_type() == kHalf,
              "[_log_softmax] conversion is supported for Half type only, got ",
              self.scalar_type());
  wrap_dim(dim, self.dim());
  return TensorSpec(self.sizes(), half_to_float ? kFloat : self.scalar_type(), self.device());
}

}  // namespace tenon

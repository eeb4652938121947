#include "tenon/native/mode.h"

#include "aten/meta/reduce.h"

namespace tenon {

std::array<TensorSpec, 2> native::mode_meta(const Tensor& self, int64_t dim, bool keepdim) {
  const int64_t d = wrap_dim(dim, self.dim());
  TENON_CHECK_NOT_IMPLEMENTED(!self.is_complex(), "[mode] is not implemented for '",
                              self.scalar_type(), "'");
  TENON_CHECK_INDEX(self.dim() == 0 || self.sizes()[d] > 0, "[mode] Expected reduction dim ", d,
                    " to have non-zero size.");
  return {reduced_spec("mode", self, dim, keepdim, self.scalar_type()),
          reduced_spec("mode", self, dim, keepdim, kLong)};
}

}  // namespace tenon

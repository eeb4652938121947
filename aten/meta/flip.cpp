#include "tenon/native/flip.h"

#include "aten/common/dims.h"
#include "aten/meta/strides.h"
#include "aten/meta/tensor_spec.h"
#include "tenon/native/roll.h"

namespace tenon {

TensorSpec native::flip_meta(const Tensor& self, IntArrayRef dims) {
  dim_mask("flip", dims, self.dim(), false);
  return TensorSpec(self.sizes(), native::preserved_strides(self), self.scalar_type(),
                    self.device());
}

TensorSpec native::roll_meta(const Tensor& self, IntArrayRef shifts, IntArrayRef dims) {
  TENON_CHECK(!shifts.empty(), "[roll] `shifts` required");
  TENON_CHECK(dims.empty() ? shifts.size() == 1 : shifts.size() == dims.size(),
              "[roll] shifts and dimensions must align. shifts: ", shifts.size(),
              ", dims:", dims.size());
  for (int64_t d : dims) {
    if (self.numel() == 0) break;  // nothing is rolled
    TENON_CHECK_INDEX(self.dim() > 0, "[roll] Dimension specified as ", d,
                      " but tensor has no dimensions");
    wrap_dim(d, self.dim());
  }
  if (dims.empty()) return TensorSpec(self.sizes(), self);
  return TensorSpec(self.sizes(), meta::strides_like(self, self.sizes()), self.scalar_type(),
                    self.device());
}

}  // namespace tenon

#include "tenon/native/masked_select.h"

#include "aten/common/contiguous.h"
#include "aten/common/masked_shape.h"
#include "aten/cpu/dispatch_size.h"
#include "tenon/ops/expand.h"

namespace tenon {

/// The elements where the mask is true, both broadcast to one shape, in row-major order: [count].
Tensor native::masked_select_cpu(const Tensor& self, const Tensor& mask) {
  const DimVector shape = masked_shape(self, mask);
  const TensorBase values =
      contiguous(self.sizes() == IntArrayRef(shape) ? self : ops::expand::call(self, shape, false));
  const TensorBase chosen =
      contiguous(mask.sizes() == IntArrayRef(shape) ? mask : ops::expand::call(mask, shape, false));
  const auto* m = static_cast<const uint8_t*>(chosen.const_data_ptr());
  const int64_t n = chosen.numel();
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) count += m[i];
  Tensor result = tenon::empty(count, self.scalar_type(), kCPU);
  dispatch_size(self.element_size(), [&]<class T>() {
    const auto* from = static_cast<const T*>(values.const_data_ptr());
    auto* to = static_cast<T*>(result.mutable_data_ptr());
    // Every element is written and the place only advances past a chosen one: no branch to
    // mispredict.
    int64_t k = 0;
    int64_t i = 0;
    for (; i < n && k < count; ++i) {
      to[k] = from[i];
      k += m[i];
    }
  });
  return result;
}

}  // namespace tenon

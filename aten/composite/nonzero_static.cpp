#include "tenon/native/nonzero_static.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/contiguous.h"
#include "tenon/ops/full.h"
#include "tenon/ops/nonzero.h"
#include "tenon/ops/slice.h"

namespace tenon {

/// The places of nonzero() as [size, dim]: the first `size` of them, filled up with rows of
/// fill_value.
Tensor native::nonzero_static(const Tensor& self, int64_t size, int64_t fill_value) {
  TENON_CHECK(size >= 0, "[nonzero_static] 'size' must be an non-negative integer, got ", size);
  const Tensor places = nonzero(self).slice(0, 0, size);
  const int64_t missing = size - places.size(0);
  if (missing == 0) return places.contiguous();
  const Tensor fill = full({missing, places.size(1)}, Scalar(fill_value), places.options());
  return cat({places, fill}, 0);
}

}  // namespace tenon

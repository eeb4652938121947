#include "tenon/native/index_fill.h"

#include "tenon/ops/index_fill.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/to.h"
#include "tenon/ops/where.h"
#include "tenon/ops/zeros.h"

namespace tenon {

/// `value`, a tensor without dimensions, at the places along `dim` that the index names.
Tensor native::index_fill_int_Tensor(const Tensor& self, int64_t dim, const Tensor& index,
                                     const Tensor& value) {
  TENON_CHECK(value.dim() == 0,
              "[index_fill] index_fill_ only supports a 0-dimensional value tensor, but got tensor "
              "with ",
              value.dim(), " dimension(s).");
  TENON_CHECK(!value.is_complex() || self.is_complex(),
              "[index_fill] Converting complex Scalar to non-complex type is not supported, got a "
              "value of ",
              value.scalar_type(), " for a tensor of ", self.scalar_type());
  const int64_t d = wrap_dim(dim, self.dim());
  DimVector sizes(static_cast<size_t>(self.dim()), 1);
  if (self.dim() > 0) sizes[d] = self.size(d);
  const Tensor none = zeros(self.dim() > 0 ? self.size(d) : 1, self.options().dtype(kBool));
  const Tensor chosen = ops::index_fill_int_Scalar::call(none, 0, index, true);
  return ops::where_self::call(reshape(chosen, sizes), value.to(self.options()), self);
}

}  // namespace tenon

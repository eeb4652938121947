#include "tenon/native/take_along_dim.h"

#include "tenon/ops/expand.h"
#include "tenon/ops/gather.h"
#include "tenon/ops/remainder.h"
#include "tenon/ops/reshape.h"

namespace tenon {

/// self and indices broadcast to one another but along dim; without dim both are flat.
Tensor native::take_along_dim(const Tensor& self, const Tensor& indices,
                              std::optional<int64_t> dim) {
  TENON_CHECK(indices.scalar_type() == kLong,
              "[take_along_dim] dtype of indices should be Long but got ", indices.scalar_type());
  if (!dim) {
    return ops::gather::call(ops::reshape::call(self, {-1}), 0, ops::reshape::call(indices, {-1}),
                             false);
  }
  TENON_CHECK(self.dim() == indices.dim(),
              "[take_along_dim] input and indices should have the same number of dimensions, but "
              "got ",
              self.dim(), " dimensions for input, and ", indices.dim(), " dimensions for indices");
  const int64_t d = wrap_dim(*dim, self.dim());
  DimVector of_self(self.sizes()), of_indices(indices.sizes());
  for (size_t i = 0; i < of_self.size(); ++i) {
    if (static_cast<int64_t>(i) == d) continue;
    const int64_t a = of_self[i], b = of_indices[i];
    TENON_CHECK(a == b || a == 1 || b == 1, "[take_along_dim] The size of tensor a (", a,
                ") must match the size of tensor b (", b, ") at non-singleton dimension ", i);
    of_self[i] = of_indices[i] = a == 1 ? b : a;
  }
  // Along a dimension, unlike over all elements, every integer counts modulo the size.
  const int64_t length = self.dim() == 0 ? 1 : self.sizes()[d];
  const Tensor wrapped = length == 0 ? indices : ops::remainder_Scalar::call(indices, length);
  return ops::gather::call(ops::expand::call(self, of_self, false), d,
                           ops::expand::call(wrapped, of_indices, false), false);
}

}  // namespace tenon

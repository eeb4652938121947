#include "tenon/native/gather_sparse_backward.h"

#include "aten/composite/sparse_by_name.h"
#include "tenon/ops/arange.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/stack.h"
#include "tenon/ops/to.h"

namespace tenon {

/// The gradient of gather, at the places that were read.
Tensor native::gather_sparse_backward(const Tensor& grad, IntArrayRef self_sizes, int64_t dim,
                                      const Tensor& index) {
  const auto n = static_cast<int64_t>(self_sizes.size());
  if (n == 0) return grad;
  dim = wrap_dim(dim, n);
  const Tensor places = index.dim() == 0 ? ops::reshape::call(index, {1}) : index;
  std::vector<Tensor> rows;
  for (int64_t d = 0; d < n; ++d) {
    if (d == dim) {
      rows.push_back(ops::reshape::call(places.to(kLong), {-1}));
      continue;
    }
    DimVector shape(static_cast<size_t>(n), 1);
    shape[static_cast<size_t>(d)] = places.size(d);
    const Tensor along = ops::reshape::call(tenon::arange(places.size(d), kLong), shape);
    rows.push_back(ops::reshape::call(along.expand(places.sizes()), {-1}));
  }
  return native::sparse_gradient(ops::stack::call(rows, 0), ops::reshape::call(grad, {-1}),
                                 self_sizes);
}

}  // namespace tenon

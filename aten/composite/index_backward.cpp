#include <algorithm>

#include "tenon/native/masked_select_backward.h"
#include "tenon/ops/index_add.h"
#include "tenon/ops/new_zeros.h"
#include "tenon/ops/nonzero.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/squeeze.h"
#include "tenon/ops/sum_to_size.h"

namespace tenon {

Tensor native::masked_select_backward(const Tensor& grad_output, IntArrayRef self_sizes,
                                      const Tensor& mask) {
  // Rows of nonzero() come in the order in which the elements were taken.
  DimVector shape(
      static_cast<size_t>(std::max<int64_t>(static_cast<int64_t>(self_sizes.size()), mask.dim())));
  for (size_t i = 0; i < shape.size(); ++i) {
    const auto at = [&](IntArrayRef sizes) {
      return i + sizes.size() < shape.size() ? int64_t{1} : sizes[i + sizes.size() - shape.size()];
    };
    shape[i] = at(self_sizes) == 1 ? at(mask.sizes()) : at(self_sizes);
  }
  const Tensor flat_mask = ops::reshape::call(mask.expand(shape), {-1});
  const Tensor places = ops::squeeze_dim::call(ops::nonzero::call(flat_mask), 1);
  const Tensor flat = ops::index_add::call(tenon::new_zeros(grad_output, numel_of(shape)), 0,
                                           places, grad_output, 1);
  return ops::sum_to_size::call(ops::reshape::call(flat, shape), self_sizes);
}

}  // namespace tenon

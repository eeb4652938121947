#include "tenon/native/index_backward.h"
#include "tenon/native/index_add_source_backward.h"
#include "tenon/native/masked_select_backward.h"
#include "tenon/native/value_selecting_reduction_backward.h"
#include "tenon/ops/index_add.h"
#include "tenon/ops/index_put.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/new_zeros.h"
#include "tenon/ops/nonzero.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/scatter_add.h"
#include "tenon/ops/squeeze.h"
#include "tenon/ops/sum_to_size.h"
#include "tenon/ops/unsqueeze.h"

#include <algorithm>

namespace tenon {

Tensor native::index_add_source_backward(const Tensor& grad, int64_t dim, const Tensor& index,
                                         IntArrayRef source_sizes, const Scalar& alpha) {
  const Tensor chosen = ops::reshape::call(ops::index_select::call(grad, dim, index), source_sizes);
  return alpha.equal(1) ? chosen : ops::mul_Scalar::call(chosen, alpha);
}

Tensor native::index_backward(const Tensor& grad, IntArrayRef self_sizes,
                              ArrayRef<std::optional<Tensor>> indices) {
  Tensor result = tenon::new_zeros(grad, self_sizes);
  return ops::index_put_::call(result, indices, grad, true);
}

/// The gradient of values that were picked along dim goes to where they were.
Tensor native::value_selecting_reduction_backward(const Tensor& grad, int64_t dim,
                                                  const Tensor& indices, IntArrayRef sizes,
                                                  bool keepdim) {
  if (keepdim || sizes.empty()) {
    return ops::scatter_add::call(tenon::new_zeros(grad, sizes), dim, indices, grad);
  }
  const int64_t d = wrap_dim(dim, static_cast<int64_t>(sizes.size()));
  return ops::scatter_add::call(tenon::new_zeros(grad, sizes), d, ops::unsqueeze::call(indices, d),
                                ops::unsqueeze::call(grad, d));
}

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

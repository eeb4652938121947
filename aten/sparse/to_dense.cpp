#include "tenon/native/to_dense.h"

#include "aten/sparse/sparse_tensor.h"
#include "tenon/native/_to_dense.h"
#include "tenon/native/to_dense_backward.h"
#include "tenon/ops/_to_dense.h"
#include "tenon/ops/coalesce.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sparse_mask.h"
#include "tenon/ops/to.h"

namespace tenon {

Tensor native::to_dense(const Tensor& self, std::optional<ScalarType> dtype,
                        std::optional<bool> masked_grad) {
  if (self.layout() == kStrided) return dtype ? self.to(*dtype) : self;
  return ops::_to_dense::call(self, dtype, masked_grad);
}

Tensor native::_to_dense(const Tensor& self, std::optional<ScalarType> dtype, std::optional<bool>) {
  TENON_CHECK(self.layout() != kStrided, "[_to_dense] expected a sparse tensor, got a strided one");
  const Tensor coo = sparse::is_compressed(self.layout()) ? sparse::coo_of_compressed(self) : self;
  const auto n = static_cast<size_t>(sparse::content_of(coo).sparse_dim);
  const IntArrayRef sizes = self.sizes().slice(0, n);
  Tensor values = sparse::values_of(coo);
  if (dtype) values = values.to(*dtype);
  int64_t rows = 1;
  for (const int64_t size : sizes) rows *= size;
  const Tensor places = sparse::flat_positions(sparse::indices_of(coo), sizes);
  return ops::reshape::call(sparse::sum_groups(values, places, rows), self.sizes());
}

/// With masked_grad, the default, only the elements that a sparse input has get a gradient.
Tensor native::to_dense_backward(const Tensor& grad, const Tensor& input,
                                 std::optional<bool> masked_grad) {
  const Tensor same = grad.to(input.scalar_type());
  if (input.layout() == kStrided) return same;
  const bool masked = masked_grad.value_or(true);
  if (input.layout() == kSparse)
    return masked ? ops::sparse_mask::call(same, ops::coalesce::call(input))
                  : Tensor(same.to_sparse(sparse::content_of(input).sparse_dim));
  return ops::sparse_mask::call(same, input);
}

}  // namespace tenon

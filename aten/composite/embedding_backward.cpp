#include "tenon/native/embedding_backward.h"

#include "aten/composite/sparse_by_name.h"
#include "tenon/native/embedding_sparse_backward.h"
#include "tenon/ops/embedding_dense_backward.h"
#include "tenon/ops/embedding_sparse_backward.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/ne.h"
#include "tenon/ops/nonzero.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/to.h"

namespace tenon {

Tensor native::embedding_backward(const Tensor& grad, const Tensor& indices, int64_t num_weights,
                                  int64_t padding_idx, bool scale_grad_by_freq, bool sparse) {
  return sparse ? ops::embedding_sparse_backward::call(grad, indices, num_weights, padding_idx,
                                                       scale_grad_by_freq)
                : ops::embedding_dense_backward::call(grad, indices, num_weights, padding_idx,
                                                      scale_grad_by_freq);
}

/// The rows of the gradient, at the rows of the weight that were looked up: [num_weights, width].
Tensor native::embedding_sparse_backward(const Tensor& grad, const Tensor& indices,
                                         int64_t num_weights, int64_t padding_idx,
                                         bool scale_grad_by_freq) {
  TENON_CHECK(!scale_grad_by_freq,
              "embedding_backward: scale_grad_by_freq not supported with sparse gradients");
  const int64_t width = grad.size(-1);
  Tensor rows = ops::reshape::call(indices, {-1}).to(kLong);
  Tensor values = ops::reshape::call(grad, {rows.numel(), width});
  if (padding_idx != -1) {
    const Tensor kept =
        ops::reshape::call(ops::nonzero::call(ops::ne_Scalar::call(rows, padding_idx)), {-1});
    rows = ops::index_select::call(rows, 0, kept);
    values = ops::index_select::call(values, 0, kept);
  }
  return native::sparse_gradient(ops::reshape::call(rows, {1, -1}), values, {num_weights, width});
}

}  // namespace tenon

#include "tenon/native/_embedding_dense_double_backward.h"

#include "tenon/ops/eq.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/masked_fill.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon {

/// The transpose of embedding_dense_backward: grad [V, D] looked up at the indices, 0 at
/// padding_idx.
Tensor native::_embedding_dense_double_backward(const Tensor& grad, const Tensor& indices,
                                                int64_t padding_idx) {
  const Tensor rows = index_select(grad, 0, reshape(indices, {indices.numel()}));
  DimVector sizes(indices.sizes());
  sizes.push_back(grad.size(1));
  const Tensor out = reshape(rows, sizes);
  return padding_idx < 0
             ? out
             : masked_fill(out, unsqueeze(eq(indices, Scalar(padding_idx)), -1), Scalar(0));
}

}  // namespace tenon

#include "tenon/native/embedding_dense_backward.h"

namespace tenon {

/// grad_output [..., D] for indices [...] -> [num_weights, D]
TensorSpec native::embedding_dense_backward_meta(const Tensor& grad_output, const Tensor& indices,
                                                 int64_t num_weights, int64_t, bool) {
  const int64_t dims = indices.dim();
  TENON_CHECK(grad_output.dim() == dims + 1 &&
                  grad_output.sizes().slice(0, dims) == indices.sizes(),
              "[embedding_dense_backward] grad_output ", grad_output.sizes(),
              " does not belong to indices of shape ", indices.sizes());
  TENON_CHECK(indices.scalar_type() == kLong || indices.scalar_type() == kInt,
              "[embedding_dense_backward] expected indices of Long or Int, got ",
              indices.scalar_type());
  return TensorSpec({num_weights, grad_output.size(-1)}, grad_output);
}

}  // namespace tenon

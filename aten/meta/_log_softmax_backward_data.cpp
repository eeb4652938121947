#include "tenon/native/_log_softmax_backward_data.h"

namespace tenon {

/// The shape of both operands, in the type that the forward's input had.
TensorSpec native::_log_softmax_backward_data_meta(const Tensor& grad_output, const Tensor& output,
                                                   int64_t dim, ScalarType input_dtype) {
  TENON_CHECK(grad_output.sizes() == output.sizes(),
              "[_log_softmax_backward_data] grad_output and output need the ", "same shape, got ",
              grad_output.sizes(), " and ", output.sizes());
  wrap_dim(dim, output.dim());
  return TensorSpec(output.sizes(), input_dtype, output.device());
}

}  // namespace tenon

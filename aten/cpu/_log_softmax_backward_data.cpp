#include "tenon/native/_log_softmax_backward_data.h"

#include "aten/cpu/plain.h"
#include "aten/cpu/softmax_rows.h"

namespace tenon {

void native::_log_softmax_backward_data_cpu(const Tensor& grad_output, const Tensor& output,
                                            int64_t dim, ScalarType, const Tensor& out) {
  const ScalarType type = opmath_type(output.scalar_type());
  const Split s(output.sizes(), dim);
  const TensorBase dy = plain_input(grad_output, type), y = plain_input(output, type);
  const PlainOutput dx(out, type);
  TENON_DISPATCH_FLOATING(type, "_log_softmax_backward_data", {
    softmax_backward<scalar_t>(dy.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), dx.data<scalar_t>(),
                               s.outer, s.n, s.inner, true);
  });
  dx.deliver();
}

}  // namespace tenon

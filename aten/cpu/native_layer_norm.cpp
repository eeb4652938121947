#include "tenon/native/native_layer_norm.h"

#include "aten/cpu/norm_rows.h"
#include "aten/cpu/plain.h"

namespace tenon {

void native::native_layer_norm_cpu(const Tensor& input, IntArrayRef normalized_shape,
                                   const std::optional<Tensor>& weight,
                                   const std::optional<Tensor>& bias, double eps, const Tensor& out,
                                   const Tensor& mean, const Tensor& rstd) {
  const int64_t n = numel_of(normalized_shape), rows = mean.numel();
  const ScalarType type = opmath_type(input.scalar_type());
  const TensorBase x = plain_input(input, type), w = plain_input(weight, type),
                   b = plain_input(bias, type);
  const PlainOutput y(out, type), means(mean, type), rstds(rstd, type);
  TENON_DISPATCH_FLOATING(type, "native_layer_norm", {
    layer_norm_forward<scalar_t>(x.data_ptr<scalar_t>(), data_or_null<scalar_t>(w),
                                 data_or_null<scalar_t>(b), y.data<scalar_t>(),
                                 means.data<scalar_t>(), rstds.data<scalar_t>(), rows, n, eps);
  });
  y.deliver();
  means.deliver();
  rstds.deliver();
}

}  // namespace tenon

#include "tenon/native/avg_pool2d_backward.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/avg_pool_plane.h"

namespace tenon {

void native::avg_pool2d_backward_cpu(const Tensor& grad_output, const Tensor& self,
                                     IntArrayRef kernel_size, IntArrayRef stride,
                                     IntArrayRef padding, bool ceil_mode, bool count_include_pad,
                                     std::optional<int64_t> divisor_override,
                                     const Tensor& grad_input) {
  const meta::Pool2d p =
      meta::pool2d("avg_pool2d", self, kernel_size, stride, padding, 1, ceil_mode);
  const ScalarType type = to_opmath_type(grad_output.scalar_type());
  const TensorBase from = contiguous(grad_output, type);
  const ContiguousOutput to(grad_input, type);
  const auto window = [&](int64_t row, int64_t column) {
    return average_window(p, row, column, count_include_pad, divisor_override);
  };
  TENON_DISPATCH_FLOATING(type, "avg_pool2d_backward", {
    parallel_for(0, p.planes, std::max<int64_t>(1, 16384 / p.in_size()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t l = begin; l < end; ++l) {
                     spread_plane<scalar_t>(p, from.data_ptr<scalar_t>() + l * p.out_size(),
                                            to.data<scalar_t>() + l * p.in_size(), window);
                   }
                 });
  });
  to.copy_back();
}

}  // namespace tenon

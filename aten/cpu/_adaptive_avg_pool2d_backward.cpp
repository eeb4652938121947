#include "tenon/native/_adaptive_avg_pool2d_backward.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/avg_pool_plane.h"

namespace tenon {

void native::_adaptive_avg_pool2d_backward_cpu(const Tensor& grad_output, const Tensor& self,
                                               const Tensor& grad_input) {
  const meta::Pool2d p = meta::adaptive_pool2d(self, grad_output);
  const ScalarType type = to_opmath_type(grad_output.scalar_type());
  const TensorBase from = contiguous(grad_output, type);
  const ContiguousOutput to(grad_input, type);
  const auto window = [&](int64_t row, int64_t column) { return adaptive_window(p, row, column); };
  TENON_DISPATCH_FLOATING(type, "adaptive_avg_pool2d_backward", {
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

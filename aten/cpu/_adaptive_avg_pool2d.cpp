#include "tenon/native/_adaptive_avg_pool2d.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/avg_pool_plane.h"

namespace tenon {

void native::_adaptive_avg_pool2d_cpu(const Tensor& self, IntArrayRef, const Tensor& out) {
  const meta::Pool2d p = meta::adaptive_pool2d(self, out);
  const ScalarType type = to_opmath_type(self.scalar_type());
  const TensorBase from = contiguous(self, type);
  const ContiguousOutput to(out, type);
  const auto window = [&](int64_t row, int64_t column) { return adaptive_window(p, row, column); };
  TENON_DISPATCH_FLOATING(type, "adaptive_avg_pool2d", {
    parallel_for(0, p.planes, std::max<int64_t>(1, 16384 / p.in_size()),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t l = begin; l < end; ++l) {
                     average_plane<scalar_t>(p, from.data_ptr<scalar_t>() + l * p.in_size(),
                                             to.data<scalar_t>() + l * p.out_size(), window);
                   }
                 });
  });
  to.copy_back();
}

}  // namespace tenon

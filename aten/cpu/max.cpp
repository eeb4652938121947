#include "tenon/native/max.h"

#include "aten/cpu/arg_extreme.h"
#include "tenon/native/min.h"

namespace tenon {

void native::max_dim_cpu(const Tensor& self, int64_t dim, bool, const Tensor& values,
                         const Tensor& indices) {
  arg_extreme(self, wrap_dim(dim, self.dim()), true, values, indices);
}

void native::min_dim_cpu(const Tensor& self, int64_t dim, bool, const Tensor& values,
                         const Tensor& indices) {
  arg_extreme(self, wrap_dim(dim, self.dim()), false, values, indices);
}

}  // namespace tenon

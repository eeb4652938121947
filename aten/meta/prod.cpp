#include "tenon/native/prod.h"

#include "aten/meta/reduce.h"

namespace tenon {

TensorSpec native::prod_meta(const Tensor& self, std::optional<ScalarType> dtype) {
  return TensorSpec(IntArrayRef(), accumulated_dtype(self, dtype), self.device()).casting();
}

TensorSpec native::prod_dim_int_meta(const Tensor& self, int64_t dim, bool keepdim,
                                     std::optional<ScalarType> dtype) {
  return reduced_spec("prod", self, dim, keepdim, accumulated_dtype(self, dtype)).casting();
}

}  // namespace tenon

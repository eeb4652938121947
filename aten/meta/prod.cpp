#include "tenon/native/prod.h"

#include "aten/meta/reduce.h"

namespace tenon {

TensorSpec native::prod_meta(const Tensor& self, std::optional<ScalarType> dtype) {
  return accumulating(TensorSpec(IntArrayRef(), accumulated_dtype(self, dtype), self.device()),
                      dtype);
}

TensorSpec native::prod_dim_int_meta(const Tensor& self, int64_t dim, bool keepdim,
                                     std::optional<ScalarType> dtype) {
  return accumulating(reduced_spec("prod", self, dim, keepdim, accumulated_dtype(self, dtype)),
                      dtype);
}

}  // namespace tenon

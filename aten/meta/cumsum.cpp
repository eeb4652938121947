#include "tenon/native/cumsum.h"

#include "aten/meta/reduce.h"

namespace tenon {

TensorSpec native::cumsum_meta(const Tensor& self, int64_t dim, std::optional<ScalarType> dtype) {
  wrap_dim(dim, self.dim());
  return accumulating(TensorSpec(self.sizes(), accumulated_dtype(self, dtype), self.device()),
                      dtype);
}

}  // namespace tenon

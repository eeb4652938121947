#include "tenon/native/tril.h"

#include "aten/meta/tensor_spec.h"
#include "tenon/native/triu.h"

namespace tenon {

TensorSpec native::tril_meta(const Tensor& self, int64_t) {
  TENON_CHECK(self.dim() >= 2, "[tril] input tensor must have at least 2 dimensions, got sizes ",
              self.sizes());
  return TensorSpec(self.sizes(), self);
}

TensorSpec native::triu_meta(const Tensor& self, int64_t) {
  TENON_CHECK(self.dim() >= 2, "[triu] input tensor must have at least 2 dimensions, got sizes ",
              self.sizes());
  return TensorSpec(self.sizes(), self);
}

}  // namespace tenon

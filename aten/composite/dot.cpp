#include "tenon/native/dot.h"

#include "tenon/ops/mul.h"
#include "tenon/ops/sum.h"

namespace tenon {

Tensor native::dot(const Tensor& self, const Tensor& tensor) {
  TENON_CHECK(self.dim() == 1 && tensor.dim() == 1 && self.numel() == tensor.numel(),
              "[dot] 1D tensors of one size expected, but got shapes ", self.sizes(), " and ",
              tensor.sizes());
  return sum(mul(self, tensor), self.scalar_type());  // integers stay what they are
}

}  // namespace tenon

#include "tenon/native/item.h"

#include "tenon/ops/_local_scalar_dense.h"

namespace tenon {

Scalar native::item(const Tensor& self) {
  TENON_CHECK(self.numel() == 1, "[item] a Tensor with ", self.numel(),
              " elements cannot be converted to Scalar");
  return ops::_local_scalar_dense::call(self);
}

}  // namespace tenon

#include "tenon/native/item.h"

#include "tenon/native/is_nonzero.h"
#include "tenon/ops/_local_scalar_dense.h"

namespace tenon {

Scalar native::item(const Tensor& self) {
  TENON_CHECK(self.numel() == 1, "[item] a Tensor with ", self.numel(),
              " elements cannot be converted to Scalar");
  return ops::_local_scalar_dense::call(self);
}

bool native::is_nonzero(const Tensor& self) {
  TENON_CHECK(self.numel() != 0,
              "[is_nonzero] Boolean value of Tensor with no values is ambiguous");
  TENON_CHECK(self.numel() == 1,
              "[is_nonzero] Boolean value of Tensor with more than one value is ambiguous");
  return ops::_local_scalar_dense::call(self).toBool();
}

}  // namespace tenon

#include "tenon/native/_neg_view.h"

#include "aten/conjugate/unresolved.h"

namespace tenon {

/// The negatives: a view of the same memory with the other negative bit.
Tensor native::_neg_view(const Tensor& self) {
  TENON_CHECK_TYPE(self.scalar_type() != kBool,
                   "Negation, the `-` operator, on a bool tensor is not supported. If you are "
                   "trying to invert a mask, use the `~` or `logical_not()` operator instead.");
  return unresolved::with_bits(self, self.is_conj(), !self.is_neg());
}

}  // namespace tenon

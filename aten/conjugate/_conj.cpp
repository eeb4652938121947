#include "tenon/native/_conj.h"

#include "aten/conjugate/unresolved.h"
#include "tenon/ops/_conj_physical.h"

namespace tenon {

/// The conjugates: a view of the same memory with the other conjugate bit. A sparse tensor has no
/// memory of its own: its values are conjugated.
Tensor native::_conj(const Tensor& self) {
  TENON_CHECK(self.is_complex(), "[_conj] expected a complex tensor, got ", self.scalar_type());
  if (self.layout() != kStrided) return ops::_conj_physical::call(self);
  return unresolved::with_bits(self, !self.is_conj(), self.is_neg());
}

}  // namespace tenon

#include "tenon/native/equal.h"

#include "tenon/ops/_local_scalar_dense.h"
#include "tenon/ops/all.h"
#include "tenon/ops/eq.h"

namespace tenon {

/// Whether sizes and all elements are the same, as numbers of the promoted dtype; NaN differs from
/// everything. Waits for the GPU.
bool native::equal_cuda(const Tensor& self, const Tensor& other) {
  if (!(self.sizes() == other.sizes())) return false;
  if (self.numel() == 0) return true;
  return ops::_local_scalar_dense::call(ops::all::call(ops::eq_Tensor::call(self, other))).toBool();
}

}  // namespace tenon

#include "tenon/native/equal.h"

#include "tenon/ops/_local_scalar_dense.h"
#include "tenon/ops/all.h"
#include "tenon/ops/eq.h"

namespace tenon {

/// Whether sizes and all elements are the same; NaN differs from everything. Waits for the GPU.
bool native::equal_cuda(const Tensor& self, const Tensor& other) {
  TENON_CHECK(self.scalar_type() == other.scalar_type(),
              "[equal] expected both tensors to have the same dtype, got ", self.scalar_type(),
              " and ", other.scalar_type());
  if (!(self.sizes() == other.sizes())) return false;
  if (self.numel() == 0) return true;
  return ops::_local_scalar_dense::call(ops::all::call(ops::eq_Tensor::call(self, other))).toBool();
}

}  // namespace tenon

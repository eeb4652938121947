#include "tenon/native/bmm.h"

#include "aten/meta/checks.h"

namespace tenon {

/// [b, m, k] @ [b, k, n] -> [b, m, n]
TensorSpec native::bmm_meta(const Tensor& self, const Tensor& mat2) {
  TENON_CHECK(self.dim() == 3, "[bmm] batch1 must be a 3D tensor, got shape ", self.sizes());
  TENON_CHECK(mat2.dim() == 3, "[bmm] batch2 must be a 3D tensor, got shape ", mat2.sizes());
  TENON_CHECK(self.size(0) == mat2.size(0) && self.size(2) == mat2.size(1),
              "[bmm] Expected size for first two dimensions of batch2 tensor to be: [",
              self.size(0), ", ", self.size(2), "] but got: [", mat2.size(0), ", ", mat2.size(1),
              "].");
  meta::check_same("bmm", "batch1", self, "batch2", mat2);
  return TensorSpec({self.size(0), self.size(1), mat2.size(2)}, self);
}

}  // namespace tenon

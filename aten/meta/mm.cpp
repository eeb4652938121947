#include "tenon/native/mm.h"

#include "aten/meta/checks.h"

namespace tenon {

/// [m, k] @ [k, n] -> [m, n]
TensorSpec native::mm_meta(const Tensor& self, const Tensor& mat2) {
  TENON_CHECK(self.dim() == 2, "[mm] self must be a matrix, got shape ", self.sizes());
  TENON_CHECK(mat2.dim() == 2, "[mm] mat2 must be a matrix, got shape ", mat2.sizes());
  TENON_CHECK(self.size(1) == mat2.size(0), "[mm] mat1 and mat2 shapes cannot be multiplied (",
              self.size(0), "x", self.size(1), " and ", mat2.size(0), "x", mat2.size(1), ")");
  meta::check_same("mm", "mat1", self, "mat2", mat2);
  return TensorSpec({self.size(0), mat2.size(1)}, self);
}

}  // namespace tenon

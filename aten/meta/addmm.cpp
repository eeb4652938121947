#include "tenon/native/addmm.h"

#include "aten/meta/checks.h"

namespace tenon {

/// self broadcast to [m, n]; mat1 [m, k], mat2 [k, n] -> [m, n]
TensorSpec native::addmm_meta(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                              const Scalar&, const Scalar&) {
  TENON_CHECK(mat1.dim() == 2, "[addmm] mat1 must be a matrix, got ", mat1.dim(), "-D tensor");
  TENON_CHECK(mat2.dim() == 2, "[addmm] mat2 must be a matrix, got ", mat2.dim(), "-D tensor");
  TENON_CHECK(mat1.size(1) == mat2.size(0), "[addmm] mat1 and mat2 shapes cannot be multiplied (",
              mat1.size(0), "x", mat1.size(1), " and ", mat2.size(0), "x", mat2.size(1), ")");
  meta::check_same("addmm", "mat1", mat1, "mat2", mat2);
  meta::check_same("addmm", "self", self, "mat2", mat2);
  const DimVector sizes{mat1.size(0), mat2.size(1)};
  meta::check_expandable("addmm", "self", self.sizes(), sizes);
  return TensorSpec(sizes, mat1);
}

}  // namespace tenon

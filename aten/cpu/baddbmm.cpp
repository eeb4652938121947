#include "tenon/native/baddbmm.h"

#include "aten/cpu/product.h"
#include "aten/iterator/element_copy.h"

namespace tenon {

void native::baddbmm_cpu(const Tensor& self, const Tensor& batch1, const Tensor& batch2,
                         const Scalar& beta, const Scalar& alpha, const Tensor& out) {
  const ProductSizes sizes{batch1.size(0), batch1.size(1), batch2.size(2), batch1.size(2)};
  if (!beta.equal(0) && !out.is_same(self)) copy(out, self);
  matrix_product("baddbmm", batch1.scalar_type(), sizes, alpha, matrices_of(batch1),
                 matrices_of(batch2), beta, matrices_of(out));
}

}  // namespace tenon

#include "tenon/native/addmm.h"

#include "aten/cpu/product.h"
#include "aten/iterator/element_copy.h"

namespace tenon {

void native::addmm_cpu(const Tensor& self, const Tensor& mat1, const Tensor& mat2,
                       const Scalar& beta, const Scalar& alpha, const Tensor& out) {
  // With a factor of 0 the product is left out, also where it is not a number.
  const ProductSizes sizes{1, mat1.size(0), mat2.size(1), alpha.equal(0) ? 0 : mat1.size(1)};
  const bool no_self = beta.equal(0);
  // A row added to every row is fused into the product.
  const bool is_row = self.dim() == 1 && self.size(0) == sizes.n && self.is_contiguous() &&
                      beta.equal(1) && self.scalar_type() == out.scalar_type();
  if (!no_self && !is_row && !out.is_same(self)) copy(out, self);
  matrix_product("addmm", mat1.scalar_type(), sizes, alpha, matrices_of(mat1), matrices_of(mat2),
                 is_row ? Scalar(0) : beta, matrices_of(out),
                 is_row && !no_self ? self.data_ptr() : nullptr);
}

}  // namespace tenon

#include "tenon/native/bmm.h"

#include "aten/cpu/product.h"

namespace tenon {

void native::bmm_cpu(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  matrix_product("bmm", self.scalar_type(),
                 {self.size(0), self.size(1), mat2.size(2), self.size(2)}, 1, matrices_of(self),
                 matrices_of(mat2), 0, matrices_of(out));
}

}  // namespace tenon

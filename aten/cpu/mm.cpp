#include "tenon/native/mm.h"

#include "aten/cpu/product.h"

namespace tenon {

void native::mm_cpu(const Tensor& self, const Tensor& mat2, const Tensor& out) {
  matrix_product("mm", self.scalar_type(), {1, self.size(0), mat2.size(1), self.size(1)}, 1,
                 matrices_of(self), matrices_of(mat2), 0, matrices_of(out));
}

}  // namespace tenon

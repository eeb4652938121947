#include "tenon/native/mv.h"

#include "aten/cpu/product.h"

namespace tenon {

Tensor native::mv_cpu(const Tensor& self, const Tensor& vec) {
  self.size(0);  // IndexError of none, as PyTorch's
  TENON_CHECK(self.dim() == 2 && vec.dim() == 1, "[mv] vector + matrix @ vector expected, got 1, ",
              self.dim(), ", ", vec.dim());
  TENON_CHECK(self.size(1) == vec.size(0), "[mv] size mismatch, got input (", self.size(0),
              "), mat (", self.size(0), "x", self.size(1), "), vec (", vec.size(0), ")");
  TENON_CHECK(self.scalar_type() == vec.scalar_type(),
              "[mv] expected self and vec to have the same dtype, got ", self.scalar_type(),
              " and ", vec.scalar_type());
  Tensor out = empty(self.size(0), self.scalar_type(), self.device());
  matrix_product("mv", self.scalar_type(), {1, self.size(0), 1, self.size(1)}, 1, matrices_of(self),
                 {vec.data_ptr(), 0, vec.stride(0), 1}, 0, {out.data_ptr(), 0, 1, 1});
  return out;
}

}  // namespace tenon

#include "tenon/native/matrix_power.h"

#include "aten/meta/matrices.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/linalg_inv.h"
#include "tenon/ops/matmul.h"

namespace tenon {

/// Square matrices times themselves, n times in all, by squaring; of a negative n their inverses.
Tensor native::matrix_power(const Tensor& self, int64_t n) {
  meta::check_square("linalg.matrix_power", "A", self);
  if (n == 0) {
    return self.clone(MemoryFormat::Contiguous).copy_(eye(self.size(-1), self.options()));
  }
  if (n == 1) return self.clone(MemoryFormat::Contiguous);
  if (n == -1) return tenon::linalg_inv(self);
  Tensor square = n < 0 ? tenon::linalg_inv(self) : self, result;
  // The smallest number has no opposite.
  for (uint64_t rest = n < 0 ? uint64_t{0} - static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
       ;) {
    if (rest % 2 == 1) result = result.defined() ? matmul(result, square) : square;
    rest /= 2;
    if (rest == 0) return result;
    square = matmul(square, square);
  }
}

}  // namespace tenon

#include "tenon/native/mv.h"

#include "tenon/ops/mm.h"
#include "tenon/ops/squeeze.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon {

/// [m, k] @ [k] -> [m], by way of mm.
Tensor native::mv(const Tensor& self, const Tensor& vec) {
  self.size(0);  // IndexError of none, as PyTorch's
  TENON_CHECK(self.dim() == 2 && vec.dim() == 1, "[mv] vector + matrix @ vector expected, got 1, ",
              self.dim(), ", ", vec.dim());
  return squeeze(tenon::mm(self, unsqueeze(vec, 1)), 1);
}

}  // namespace tenon

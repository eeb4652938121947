#include "tenon/native/allclose.h"

#include "tenon/ops/isclose.h"

namespace tenon {

bool native::allclose(const Tensor& self, const Tensor& other, double rtol, double atol,
                      bool equal_nan) {
  return isclose(self, other, rtol, atol, equal_nan).all().item().toBool();
}

}  // namespace tenon

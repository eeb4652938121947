#include "tenon/native/polygamma.h"

#include "aten/meta/structured.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/polygamma.h"

namespace tenon {

Tensor& native::polygamma_(Tensor& self, int64_t n) {
  // The gradient needs what self was.
  const Tensor result = polygamma(n, self.clone());
  structured::check_inplace("polygamma_", self, result.sizes(), result.scalar_type());
  return self.copy_(result);
}

}  // namespace tenon

#include "tenon/native/where.h"

#include "tenon/ops/scalar_tensor.h"
#include "tenon/ops/where.h"

namespace tenon {

Tensor native::where_Scalar(const Tensor& condition, const Scalar& self, const Scalar& other) {
  ScalarType dtype = promote_types(self.type(), other.type());
  if (dtype == kDouble) dtype = get_default_dtype();
  if (dtype == kComplexDouble) dtype = to_complex(get_default_dtype());
  return where(condition, scalar_tensor(self, TensorOptions(dtype).device(condition.device())),
               other);
}

}  // namespace tenon

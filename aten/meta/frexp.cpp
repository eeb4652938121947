#include "tenon/native/frexp.h"

namespace tenon {

std::array<TensorSpec, 2> native::frexp_Tensor_meta(const Tensor& self) {
  TENON_CHECK(is_floating_point(self.scalar_type()),
              "[frexp] only supports floating-point dtypes, got ", self.scalar_type());
  return {TensorSpec(self.sizes(), self), TensorSpec(self.sizes(), kInt, self.device())};
}

}  // namespace tenon

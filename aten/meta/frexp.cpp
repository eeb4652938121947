#include "tenon/native/frexp.h"

#include "aten/meta/strides.h"

namespace tenon {

std::array<TensorSpec, 2> native::frexp_Tensor_meta(const Tensor& self) {
  TENON_CHECK(is_floating_point(self.scalar_type()),
              "[frexp] only supports floating-point dtypes, got ", self.scalar_type());
  const DimVector strides = native::preserved_strides(self);
  return {TensorSpec(self.sizes(), strides, self.scalar_type(), self.device()),
          TensorSpec(self.sizes(), strides, kInt, self.device())};
}

}  // namespace tenon

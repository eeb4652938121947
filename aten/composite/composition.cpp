#include "aten/composite/composition.h"

#include "tenon/ops/scalar_tensor.h"

namespace tenon {

Tensor native::tensor_of_number(const Scalar& number) {
  Tensor tensor = scalar_tensor(number, TensorOptions(number.type()));
  tensor.unsafe_impl()->is_wrapped_number = true;
  return tensor;
}

}  // namespace tenon

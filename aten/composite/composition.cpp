#include "aten/composite/composition.h"

#include "tenon/ops/clone.h"
#include "tenon/ops/scalar_tensor.h"

namespace tenon {

Tensor native::tensor_of_number(const Scalar& number) {
  Tensor tensor = scalar_tensor(number, TensorOptions(number.type()));
  tensor.unsafe_impl()->is_wrapped_number = true;
  return tensor;
}

Tensor native::copied(const Tensor& view) { return clone(view, MemoryFormat::Contiguous); }

std::vector<Tensor> native::copied(const std::vector<Tensor>& views) {
  std::vector<Tensor> copies;
  copies.reserve(views.size());
  for (const Tensor& view : views) copies.push_back(copied(view));
  return copies;
}

}  // namespace tenon

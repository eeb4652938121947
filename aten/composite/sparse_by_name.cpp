#include "aten/composite/sparse_by_name.h"

#include "aten/dispatch/operator_entry.h"

namespace tenon::native {
namespace {

Tensor called(const char* op, Stack stack) {
  get_operator(op).call_boxed(stack);
  return Tensor(stack.at(0).to_tensor());
}

}  // namespace

Tensor sparse_gradient(const Tensor& indices, const Tensor& values, IntArrayRef sizes) {
  return called("aten::_sparse_coo_tensor_unsafe",
                {TensorBase(indices), TensorBase(values), sizes, std::nullopt, std::nullopt,
                 std::nullopt, std::nullopt, std::nullopt});
}

Tensor empty_sparse(IntArrayRef sizes, std::optional<ScalarType> dtype, Layout layout,
                    std::optional<Device> device) {
  const Tensor coo =
      called("aten::sparse_coo_tensor.size", {sizes, dtype ? Value(*dtype) : Value(), std::nullopt,
                                              device ? Value(*device) : Value(), std::nullopt});
  if (layout == kSparse) return coo;
  return called("aten::_to_sparse", {TensorBase(coo), layout, std::nullopt, std::nullopt});
}

}  // namespace tenon::native

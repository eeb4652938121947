#include "tenon/native/any.h"

#include "aten/meta/reduce.h"
#include "tenon/native/all.h"

namespace tenon {
namespace {

/// Bool, but uint8 for uint8.
TensorSpec logic(const char* op, const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  const ScalarType dtype = self.scalar_type() == kByte ? kByte : kBool;
  const uint64_t mask = native::dim_mask(op, dim, self.dim(), false);
  return TensorSpec(native::reduced_sizes(self.sizes(), mask, keepdim), dtype, self.device())
      .as_condition();
}

}  // namespace

TensorSpec native::any_meta(const Tensor& self) { return logic("any", self, std::nullopt, false); }
TensorSpec native::any_dim_meta(const Tensor& self, int64_t dim, bool keepdim) {
  return logic("any", self, dim, keepdim);
}
TensorSpec native::any_dims_meta(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return logic("any", self, dim, keepdim);
}
TensorSpec native::all_meta(const Tensor& self) { return logic("all", self, std::nullopt, false); }
TensorSpec native::all_dim_meta(const Tensor& self, int64_t dim, bool keepdim) {
  return logic("all", self, dim, keepdim);
}
TensorSpec native::all_dims_meta(const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  return logic("all", self, dim, keepdim);
}

}  // namespace tenon

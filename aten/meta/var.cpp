#include "tenon/native/var.h"

#include "aten/meta/reduce.h"
#include "tenon/native/std.h"

namespace tenon {
namespace {

TensorSpec variance(const char* op, const Tensor& self, OptionalIntArrayRef dim, bool keepdim) {
  TENON_CHECK_NOT_IMPLEMENTED(is_differentiable(self.scalar_type()), "[", op,
                              "] std and var only support floating point and complex dtypes, got ",
                              self.scalar_type());
  return native::reduced_spec(op, self, dim, keepdim, to_real(self.scalar_type())).casting();
}

}  // namespace

TensorSpec native::var_correction_meta(const Tensor& self, OptionalIntArrayRef dim,
                                       const std::optional<Scalar>&, bool keepdim) {
  return variance("var", self, dim, keepdim);
}

TensorSpec native::std_correction_meta(const Tensor& self, OptionalIntArrayRef dim,
                                       const std::optional<Scalar>&, bool keepdim) {
  return variance("std", self, dim, keepdim);
}

}  // namespace tenon

#include "tenon/native/_std.h"
#include "tenon/native/_std_mean.h"
#include "tenon/native/_var.h"
#include "tenon/native/_var_mean.h"

namespace tenon {
namespace {

void check_dtype(const char* op, const Tensor& self) {
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(self.scalar_type()), "[", op,
                              "] std and var only support floating point and complex dtypes, got ",
                              self.scalar_type());
}

}  // namespace

void native::_var_check(const Tensor& self, OptionalIntArrayRef, const Scalar&, bool) {
  check_dtype("var", self);
}

void native::_std_check(const Tensor& self, OptionalIntArrayRef, const Scalar&, bool) {
  check_dtype("std", self);
}

void native::_var_mean_check(const Tensor& self, OptionalIntArrayRef, const Scalar&, bool) {
  check_dtype("var_mean", self);
}

void native::_std_mean_check(const Tensor& self, OptionalIntArrayRef, const Scalar&, bool) {
  check_dtype("std_mean", self);
}

}  // namespace tenon

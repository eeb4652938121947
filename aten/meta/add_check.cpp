#include "tenon/native/add.h"
#include "tenon/native/rsub.h"
#include "tenon/native/sub.h"

namespace tenon {
namespace {

/// A fraction cannot scale integers, nor a number what is true or false.
void check_alpha(const char* op, ScalarType common, const Scalar& alpha) {
  TENON_CHECK(alpha.is_integral(true) || !is_integral(common, true), "[", op,
              "] For integral input tensors, argument alpha must not be a floating point number.");
  TENON_CHECK(!alpha.is_boolean() || common == kBool, "[", op,
              "] Boolean alpha only supported for Boolean results.");
}

void check_not_bool(const char* op, bool a, bool b) {
  TENON_CHECK_NOT_IMPLEMENTED(
      !a || !b, "[", op,
      "] Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
      "`logical_xor()` operator instead.");
  TENON_CHECK_NOT_IMPLEMENTED(
      !a && !b, "[", op,
      "] Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to "
      "invert a mask, use the `~` or `logical_not()` operator instead.");
}

/// As far as the check of alpha is concerned: the category is what counts.
ScalarType common_type(const Tensor& a, const Tensor& b) {
  return promote_types(a.scalar_type(), b.scalar_type());
}
ScalarType common_type(const Tensor& a, const Scalar& b) {
  return promote_types(a.scalar_type(), b.type());
}

}  // namespace

void native::add_tensor_check(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_alpha("add", common_type(self, other), alpha);
}

void native::add_scalar_check(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  check_alpha("add", common_type(self, other), alpha);
}

void native::sub_tensor_check(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  check_not_bool("sub", self.scalar_type() == kBool, other.scalar_type() == kBool);
  check_alpha("sub", common_type(self, other), alpha);
}

void native::sub_scalar_check(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  check_not_bool("sub", self.scalar_type() == kBool, other.is_boolean());
  check_alpha("sub", common_type(self, other), alpha);
}

void native::rsub_tensor_check(const Tensor& self, const Tensor& other, const Scalar& alpha) {
  sub_tensor_check(other, self, alpha);
}

void native::rsub_scalar_check(const Tensor& self, const Scalar& other, const Scalar& alpha) {
  sub_scalar_check(self, other, alpha);
}

}  // namespace tenon

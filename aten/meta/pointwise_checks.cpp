#include "tenon/native/addcdiv.h"
#include "tenon/native/heaviside.h"
#include "tenon/native/masked_fill.h"
#include "tenon/native/pow.h"
#include "tenon/native/where.h"

namespace tenon {
namespace {

void check_condition(const Tensor& condition) {
  TENON_CHECK(
      condition.scalar_type() == kBool,
      "[where] where expected condition to be a boolean tensor, but got a tensor with dtype ",
      condition.scalar_type());
}

void check_mask(const Tensor& mask) {
  TENON_CHECK(mask.scalar_type() == kBool,
              "[masked_fill] masked_fill_ only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
}

}  // namespace

void native::pow_tensor_scalar_check(const Tensor& self, const Scalar& exponent) {
  TENON_CHECK(!is_integral(self.scalar_type(), true) || !exponent.is_integral(true) ||
                  exponent.toLong() >= 0,
              "[pow] Integers to negative integer powers are not allowed.");
}

void native::heaviside_check(const Tensor& self, const Tensor& values) {
  TENON_CHECK(self.scalar_type() == values.scalar_type(),
              "[heaviside] heaviside is not yet implemented for tensors with different dtypes.");
}

void native::addcdiv_check(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                           const Scalar&) {
  (void)self;
  TENON_CHECK(!is_integral(tensor1.scalar_type(), true) ||
                  !is_integral(tensor2.scalar_type(), true),
              "[addcdiv] Integer division with addcdiv is no longer supported, and in a future "
              "release addcdiv "
              "will perform a true division of tensor1 and tensor2.");
}

void native::where_self_check(const Tensor& condition, const Tensor&, const Tensor&) {
  check_condition(condition);
}
void native::where_scalar_self_check(const Tensor& condition, const Scalar&, const Tensor&) {
  check_condition(condition);
}
void native::where_scalar_other_check(const Tensor& condition, const Tensor&, const Scalar&) {
  check_condition(condition);
}

void native::masked_fill_scalar_check(const Tensor&, const Tensor& mask, const Scalar&) {
  check_mask(mask);
}

void native::masked_fill_tensor_check(const Tensor&, const Tensor& mask, const Tensor& value) {
  check_mask(mask);
  TENON_CHECK(
      value.dim() == 0,
      "[masked_fill] masked_fill_ only supports a 0-dimensional value tensor, but got tensor "
      "with ",
      value.dim(), " dimension(s).");
}

}  // namespace tenon

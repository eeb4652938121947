#include "tenon/native/_huber_loss.h"
#include "tenon/native/_mse_loss.h"
#include "tenon/native/_smooth_l1_loss.h"
#include "tenon/native/addcdiv.h"
#include "tenon/native/celu.h"
#include "tenon/native/clamp.h"
#include "tenon/native/clamp_max.h"
#include "tenon/native/clamp_min.h"
#include "tenon/native/heaviside.h"
#include "tenon/native/lerp.h"
#include "tenon/native/masked_fill.h"
#include "tenon/native/native_dropout.h"
#include "tenon/native/neg.h"
#include "tenon/native/pow.h"
#include "tenon/native/softshrink.h"
#include "tenon/native/where.h"

#include <limits>

#include "aten/iterator/number_fits.h"
#include "aten/iterator/plan.h"

namespace tenon {
namespace {

/// Bytes are masks of old.
void check_condition(const Tensor& condition) {
  TENON_CHECK(
      condition.scalar_type() == kBool || condition.scalar_type() == kByte,
      "[where] where expected condition to be a boolean tensor, but got a tensor with dtype ",
      condition.scalar_type());
}

void check_mask(const Tensor& mask) {
  TENON_CHECK(mask.scalar_type() == kBool,
              "[masked_fill] masked_fill_ only supports boolean masks, but got mask with dtype ",
              mask.scalar_type());
}

void check_lerp(const Tensor& self, const char* name, const Tensor& other) {
  TENON_CHECK(self.scalar_type() == other.scalar_type(), "[lerp] expected dtype ",
              self.scalar_type(), " for `", name, "` but got dtype ", other.scalar_type());
}

/// The integers of a type; of int64 and of the types that are no integers, all that are.
std::pair<int64_t, int64_t> range_of(ScalarType type) {
  if (!is_integral(type, false) || type == kLong) {
    return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
  if (type == kByte) return {0, 255};
  const int64_t half = int64_t{1} << (8 * element_size(type) - 1);
  return {-half, half - 1};
}

/// The largest number of a floating-point type.
double largest(ScalarType type) {
  if (type == kHalf) return 65504;
  if (type == kBFloat16) return 0x1.fep127;
  return type == kDouble ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
}

/// Refuses a number that would wrap around in the dtype of the two. Half types have infinities.
void check_operand_fits(const char* op, const Tensor& tensor, const Scalar& number) {
  const TensorBase* tensors[] = {&tensor};
  const Scalar* numbers[] = {&number};
  const ScalarType common = native::result_type(tensors, numbers);
  if (!is_reduced_floating_point(common)) native::check_number_fits(op, number, common);
}

/// All results would be a bound that the type does not have.
void check_lower_bound(ScalarType type, const Scalar& min) {
  TENON_CHECK(!min.is_integral(true) || min.toLong() <= range_of(type).second,
              "[clamp] Clamp min value ", min, " is outside the representable range of ", type);
}
void check_upper_bound(ScalarType type, const Scalar& max) {
  TENON_CHECK(!max.is_integral(true) || max.toLong() >= range_of(type).first,
              "[clamp] Clamp max value ", max, " is outside the representable range of ", type);
}

}  // namespace

void native::clamp_min_check(const Tensor& self, const Scalar& min) {
  check_lower_bound(self.scalar_type(), min);
}

void native::clamp_max_check(const Tensor& self, const Scalar& max) {
  check_upper_bound(self.scalar_type(), max);
}

void native::clamp_check(const Tensor& self, const std::optional<Scalar>& min,
                         const std::optional<Scalar>& max) {
  // With a fraction as the other bound the result is no integer.
  if (!min || !max || !min->is_integral(true) || !max->is_integral(true)) return;
  check_lower_bound(self.scalar_type(), *min);
  check_upper_bound(self.scalar_type(), *max);
}

void native::celu_check(const Tensor&, const Scalar& alpha) {
  TENON_CHECK(!alpha.equal(0), "[celu] alpha cannot be 0 for CELU");
}

void native::lerp_tensor_check(const Tensor& self, const Tensor& end, const Tensor& weight) {
  check_lerp(self, "end", end);
  if (weight.dim() > 0) check_lerp(self, "weight", weight);
}
void native::lerp_scalar_check(const Tensor& self, const Tensor& end, const Scalar&) {
  check_lerp(self, "end", end);
}

void native::neg_check(const Tensor& self) {
  TENON_CHECK_NOT_IMPLEMENTED(
      self.scalar_type() != kBool,
      "[neg] Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
      "invert a mask, use the `~` or `logical_not()` operator instead.");
}

void native::_huber_loss_check(const Tensor&, const Tensor&, double delta) {
  TENON_CHECK(delta > 0,
              "[huber_loss] huber_loss does not support non-positive values for delta, "
              "got ",
              delta);
}

void native::_huber_loss_reduced_check(const Tensor& self, const Tensor& target, int64_t,
                                       double delta) {
  _huber_loss_check(self, target, delta);
}

void native::_mse_loss_check(const Tensor&, const Tensor&, int64_t reduction) {
  TENON_CHECK(reduction == 1 || reduction == 2,
              "[mse_loss] reduction must be 0 (none), 1 (mean) or 2 (sum), got ", reduction);
}

void native::_smooth_l1_loss_check(const Tensor&, const Tensor&, double beta) {
  TENON_CHECK(beta >= 0,
              "[smooth_l1_loss] smooth_l1_loss does not support negative values for "
              "beta, got ",
              beta);
}

void native::_smooth_l1_loss_reduced_check(const Tensor& self, const Tensor& target, int64_t,
                                           double beta) {
  _smooth_l1_loss_check(self, target, beta);
}

void native::softshrink_check(const Tensor& self, const Scalar& lambd) {
  const double most = largest(self.scalar_type());
  TENON_CHECK(!lambd.is_complex() && lambd.toDouble() >= 0 && lambd.toDouble() <= most,
              "[softshrink] lambda must be in range [0, ", most, "] for input dtype ",
              self.scalar_type(), ", but found ", lambd);
}

void native::pow_tensor_scalar_check(const Tensor& self, const Scalar& exponent) {
  TENON_CHECK(!is_integral(self.scalar_type(), true) || !exponent.is_integral(true) ||
                  exponent.toLong() >= 0,
              "[pow] Integers to negative integer powers are not allowed.");
  const ScalarType type = self.scalar_type();
  if (is_integral(type, false) ? exponent.is_integral(true) : is_reduced_floating_point(type))
    check_number_fits("pow", exponent, type);
}

void native::heaviside_check(const Tensor& self, const Tensor& values) {
  TENON_CHECK_NOT_IMPLEMENTED(!is_complex(self.scalar_type()) && !is_complex(values.scalar_type()),
                              "heaviside is not yet implemented for complex tensors.");
  TENON_CHECK(self.scalar_type() == values.scalar_type(),
              "[heaviside] heaviside is not yet implemented for tensors with different dtypes.");
}

void native::addcdiv_check(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                           const Scalar&) {
  (void)self;
  TENON_CHECK(!is_integral(tensor1.scalar_type(), true) ||
                  !is_integral(tensor2.scalar_type(), true),
              "Integer division with addcdiv is no longer supported, and in a future "
              "release addcdiv "
              "will perform a true division of tensor1 and tensor2.");
}

void native::where_self_check(const Tensor& condition, const Tensor&, const Tensor&) {
  check_condition(condition);
}
void native::where_scalar_self_check(const Tensor& condition, const Scalar& self,
                                     const Tensor& other) {
  check_condition(condition);
  check_operand_fits("where", other, self);
}
void native::where_scalar_other_check(const Tensor& condition, const Tensor& self,
                                      const Scalar& other) {
  check_condition(condition);
  check_operand_fits("where", self, other);
}

void native::native_dropout_check(const Tensor& input, double p, std::optional<bool>) {
  TENON_CHECK(p >= 0 && p <= 1, "[dropout] dropout probability has to be between 0 and 1, but got ",
              p);
  TENON_CHECK(is_floating_point(input.scalar_type()), "[dropout] is not implemented for ",
              input.scalar_type());
}

void native::masked_fill_scalar_check(const Tensor&, const Tensor& mask, const Scalar&) {
  check_mask(mask);
}

void native::masked_fill_tensor_check(const Tensor& self, const Tensor& mask, const Tensor& value) {
  check_mask(mask);
  // The result has self's dtype, so the value must not lift it.
  const TensorBase* operands[] = {&self, &value};
  TENON_CHECK(result_type(operands, {}) == self.scalar_type(),
              "[masked_fill] value cannot be converted to type ", self.scalar_type(),
              " without overflow, got ", value.scalar_type());
  TENON_CHECK(
      value.dim() == 0,
      "[masked_fill] masked_fill_ only supports a 0-dimensional value tensor, but got tensor "
      "with ",
      value.dim(), " dimension(s).");
}

}  // namespace tenon

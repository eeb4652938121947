// What compositions refuse before they compute.
#include "aten/common/contiguous.h"
#include "aten/core/python_object.h"
#include "aten/iterator/plan.h"
#include "tenon/native/_foreach_add.h"
#include "tenon/native/_foreach_div.h"
#include "tenon/native/_foreach_mul.h"
#include "tenon/native/_foreach_norm.h"
#include "tenon/native/binary_cross_entropy.h"
#include "tenon/native/binary_cross_entropy_with_logits.h"
#include "tenon/native/huber_loss.h"
#include "tenon/native/kl_div.h"
#include "tenon/native/mse_loss.h"
#include "tenon/native/nanmean.h"
#include "tenon/native/smooth_l1_loss.h"
#include "tenon/native/soft_margin_loss.h"

namespace tenon {
namespace {

/// Of integers alone PyTorch has no such loss.
void check_not_integral(const char* op, const Tensor& self, const Tensor& target) {
  const ScalarType type = promote_types(self.scalar_type(), target.scalar_type());
  TENON_CHECK_NOT_IMPLEMENTED(!is_integral(type, true), "[", op, "] is not implemented for ", type);
}

/// The loss has self's dtype, whatever target's is.
void check_own_dtype(const char* op, const Tensor& self) {
  TENON_CHECK(is_differentiable(self.scalar_type()), "[", op,
              "] result type Float can't be cast to the desired output type ", self.scalar_type());
}

/// Whether the elements can be read here and now: on the CPU, of no batch of vmap's or class of
/// Python's.
bool is_readable(const Tensor& t) {
  return t.is_cpu() && !t.unsafe_impl()->batched && !python_takes(t.key_set());
}

template <class T>
bool is_within_unit(const T* values, int64_t n) {
  bool within = true;
  for (int64_t i = 0; i < n; ++i) {
    const auto x = static_cast<opmath_type<T>>(values[i]);
    within &= (x >= 0) & (x <= 1);  // not NaN
  }
  return within;
}

void check_probabilities(const char* op, const char* name, const Tensor& t) {
  if (!is_readable(t)) return;
  const TensorBase values = native::contiguous(t);
  bool within = true;
  TENON_DISPATCH_FLOATING_AND_REDUCED(t.scalar_type(), op, {
    within = is_within_unit(static_cast<const scalar_t*>(values.const_data_ptr()), values.numel());
  });
  TENON_CHECK(within, "[", op, "] all elements of ", name, " should be between 0 and 1");
}

void check_is_number(const char* op, const Tensor& other) {
  TENON_CHECK(other.dim() == 0, "[", op, "] scalar tensor expected to be 0 dim but it has ",
              other.dim(), " dimensions and ", other.numel(), " elements.");
}

}  // namespace

void native::mse_loss_check(const Tensor& self, const Tensor& target, int64_t) {
  check_not_integral("mse_loss", self, target);
}

void native::smooth_l1_loss_check(const Tensor& self, const Tensor& target, int64_t, double) {
  check_not_integral("smooth_l1_loss", self, target);
}

void native::huber_loss_check(const Tensor& self, const Tensor& target, int64_t, double) {
  check_not_integral("huber_loss", self, target);
  check_own_dtype("huber_loss", self);
}

/// The loss is written over what -self is: it has self's dtype and shape.
void native::soft_margin_loss_check(const Tensor& self, const Tensor& target, int64_t) {
  TENON_CHECK_NOT_IMPLEMENTED(
      self.scalar_type() != kBool,
      "[soft_margin_loss] Negation, the `-` operator, on a bool tensor is not supported. If you "
      "are trying to invert a mask, use the `~` or `logical_not()` operator instead.");
  check_own_dtype("soft_margin_loss", self);
  const TensorBase* const both[] = {&self, &target};
  const DimVector shape = broadcast_shape(both);
  TENON_CHECK(self.sizes() == IntArrayRef(shape), "[soft_margin_loss] output with shape ",
              self.sizes(), " doesn't match the broadcast shape ", shape);
}

void native::kl_div_check(const Tensor& self, const Tensor& target, int64_t, bool) {
  TENON_CHECK(!self.is_complex() && !target.is_complex(),
              "[kl_div] Complex inputs not supported, got ", self.scalar_type(), " and ",
              target.scalar_type());
  TENON_CHECK(!is_integral(self.scalar_type(), true) && !is_integral(target.scalar_type(), true),
              "[kl_div] Integral inputs not supported, got ", self.scalar_type(), " and ",
              target.scalar_type());
}

void native::binary_cross_entropy_check(const Tensor& self, const Tensor& target,
                                        const std::optional<Tensor>&, int64_t) {
  check_not_integral("binary_cross_entropy", self, self);
  TENON_CHECK(target.scalar_type() == self.scalar_type(), "[binary_cross_entropy] Found dtype ",
              target.scalar_type(), " but expected ", self.scalar_type());
  // Dimensions of size one do not count: [N, 1] and [N] are compared element by element.
  const auto squeezed = [](const Tensor& t) {
    DimVector sizes;
    for (const int64_t size : t.sizes()) {
      if (size != 1) sizes.push_back(size);
    }
    return sizes;
  };
  TENON_CHECK(self.numel() != target.numel() || self.numel() == 0 ||
                  squeezed(self) == squeezed(target),
              "[binary_cross_entropy] target must have the sizes of input, got ", target.sizes(),
              " and ", self.sizes());
  check_probabilities("binary_cross_entropy", "input", self);
  check_probabilities("binary_cross_entropy", "target", target);
}

void native::_foreach_add_tensor_check(TensorList, const Tensor& other, const Scalar&) {
  check_is_number("_foreach_add", other);
}
void native::_foreach_mul_tensor_check(TensorList, const Tensor& other) {
  check_is_number("_foreach_mul", other);
}
void native::_foreach_div_tensor_check(TensorList, const Tensor& other) {
  check_is_number("_foreach_div", other);
}

void native::_foreach_norm_check(TensorList, const Scalar& ord, std::optional<ScalarType>) {
  TENON_CHECK(!ord.is_boolean() && !ord.is_complex(),
              "[_foreach_norm] expects ord to be integer or float, got ", ord);
}

/// The loss is written over what 1 - target is: it has target's dtype and shape.
void native::binary_cross_entropy_with_logits_check(const Tensor& self, const Tensor& target,
                                                    const std::optional<Tensor>& weight,
                                                    const std::optional<Tensor>& pos_weight,
                                                    int64_t) {
  const char* const op = "[binary_cross_entropy_with_logits] ";
  TENON_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), op, "is not implemented for ",
                              self.scalar_type());
  TENON_CHECK_NOT_IMPLEMENTED(target.scalar_type() != kBool, op,
                              "1 - target is not defined for a bool target");
  SmallVector<const TensorBase*, 4> operands{&self, &target};
  if (weight) operands.push_back(&*weight);
  if (pos_weight) operands.push_back(&*pos_weight);
  const ScalarType type = result_type(operands, {});
  TENON_CHECK(can_cast(type, target.scalar_type()), op, "result type ", type,
              " can't be cast to the desired output type ", target.scalar_type());
  const DimVector shape = broadcast_shape(operands);
  TENON_CHECK(target.sizes() == IntArrayRef(shape), op, "output with shape ", target.sizes(),
              " doesn't match the broadcast shape ", shape);
  TENON_CHECK(!pos_weight || self.sizes() == IntArrayRef(shape), op, "output with shape ",
              self.sizes(), " doesn't match the broadcast shape ", shape);
}

void native::nanmean_check(const Tensor& self, OptionalIntArrayRef, bool,
                           std::optional<ScalarType> dtype) {
  TENON_CHECK_NOT_IMPLEMENTED(
      is_differentiable(self.scalar_type()),
      "[nanmean] expected input to have floating point or complex dtype but got ",
      self.scalar_type());
  const ScalarType type = dtype.value_or(self.scalar_type());
  TENON_CHECK(is_differentiable(type),
              "[nanmean] could not infer output dtype. Optional dtype must be either a floating "
              "point or complex dtype. Got: ",
              type);
  TENON_CHECK_NOT_IMPLEMENTED(!is_complex(type) || !self.is_cpu(),
                              "[nanmean] on CPU is not implemented for ", type);
}

}  // namespace tenon

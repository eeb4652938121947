#include "aten/iterator/element_copy.h"
#include "aten/meta/apart.h"
#include "aten/meta/structured.h"
#include "tenon/native/aminmax.h"
#include "tenon/native/kthvalue.h"
#include "tenon/native/nonzero.h"
#include "tenon/native/take.h"
#include "tenon/ops/aminmax.h"
#include "tenon/ops/kthvalue.h"
#include "tenon/ops/nonzero.h"
#include "tenon/ops/take.h"

/// Forms with `out` of compositions that PyTorch's refuse where `out` shares memory with an input.
namespace tenon {
namespace {

/// An `out` may be written over none of the inputs, and has the result's dtype.
void check_out(const char* op, const Tensor& out, ScalarType dtype,
               ArrayRef<const TensorBase*> inputs) {
  structured::check_out_dtype(op, out, dtype);
  structured::check_apart(op, out, inputs);
}

void write(const char* op, const Tensor& out, const Tensor& result) {
  structured::resize_out(op, out, result.sizes(), result.scalar_type());
  native::copy(out, result);
  out.unsafe_impl()->bump_version();
}

}  // namespace

Tensor& native::take_out(const Tensor& self, const Tensor& index, Tensor& out) {
  check_out("take", out, self.scalar_type(), {&self, &index});
  write("take", out, ops::take::call(self, index));
  return out;
}

Tensor& native::nonzero_out(const Tensor& self, Tensor& out) {
  TENON_CHECK(out.scalar_type() == kLong,
              "[nonzero] Expected out tensor to have scalar type Long but got scalar type ",
              out.scalar_type());
  structured::check_apart("nonzero", out, {&self});
  write("nonzero", out, ops::nonzero::call(self));
  return out;
}

std::tuple<Tensor&, Tensor&> native::kthvalue_values(const Tensor& self, int64_t k, int64_t dim,
                                                     bool keepdim, Tensor& values,
                                                     Tensor& indices) {
  check_out("kthvalue", values, self.scalar_type(), {&self, &indices});
  check_out("kthvalue", indices, kLong, {&self, &values});
  const auto [value, index] = ops::kthvalue::call(self, k, dim, keepdim);
  write("kthvalue", values, value);
  write("kthvalue", indices, index);
  return {values, indices};
}

std::tuple<Tensor&, Tensor&> native::aminmax_out(const Tensor& self, std::optional<int64_t> dim,
                                                 bool keepdim, Tensor& min, Tensor& max) {
  check_out("aminmax", min, self.scalar_type(), {&self});
  check_out("aminmax", max, self.scalar_type(), {&self});
  TENON_CHECK_VALUE(!structured::overlap(min, max),
                    "[aminmax] the `min` and `max` out= tensors must not overlap");
  const auto [low, high] = ops::aminmax::call(self, dim, keepdim);
  write("aminmax", min, low);
  write("aminmax", max, high);
  return {min, max};
}

}  // namespace tenon

#include "tenon/native/normal.h"

#include "aten/batching/examples.h"
#include "aten/iterator/plan.h"
#include "tenon/ops/add.h"
#include "tenon/ops/any.h"
#include "tenon/ops/item.h"
#include "tenon/ops/lt.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/normal.h"

namespace tenon {
namespace {

void check_deviations(const Tensor& std) {
  TENON_CHECK(!std.is_complex(), "[normal] expects standard deviation to be non-complex, got ",
              std.scalar_type());
  if (std.is_meta() || std.numel() == 0) return;
  TENON_CHECK(!batching::any_of_examples(ops::lt_Scalar::call(std, 0)),
              "[normal] expects all elements of std >= 0.0");
}

/// Numbers of the standard normal distribution.
Tensor drawn(IntArrayRef sizes, const Tensor& like, double std,
             std::optional<Generator> generator) {
  Tensor result = tenon::empty(sizes, like.scalar_type(), like.device());
  return ops::normal_::call(result, 0, std, std::move(generator));
}

}  // namespace

/// Each element is drawn with its own mean.
Tensor native::normal_Tensor_float(const Tensor& mean, double std,
                                   std::optional<Generator> generator) {
  Tensor result = drawn(mean.sizes(), mean, std, std::move(generator));
  return ops::add__Tensor::call(result, mean, 1);
}

Tensor native::normal_float_Tensor(double mean, const Tensor& std,
                                   std::optional<Generator> generator) {
  check_deviations(std);
  Tensor result = drawn(std.sizes(), std, 1, std::move(generator));
  ops::mul__Tensor::call(result, std);
  return ops::add__Scalar::call(result, mean, 1);
}

/// mean and std are broadcast; the result has the dtype of mean.
Tensor native::normal_Tensor_Tensor(const Tensor& mean, const Tensor& std,
                                    std::optional<Generator> generator) {
  check_deviations(std);
  const TensorBase* both[] = {&mean, &std};
  Tensor result = drawn(broadcast_shape(both), mean, 1, std::move(generator));
  ops::mul__Tensor::call(result, std);
  return ops::add__Tensor::call(result, mean, 1);
}

}  // namespace tenon

#include "aten/common/dims.h"
#include "aten/core/thread_state.h"
#include "aten/generated_support/composed_rows.h"
#include "tenon/native/evenly_distribute_backward.h"
#include "tenon/native/linalg_vector_norm_backward.h"
#include "tenon/native/mean_backward.h"
#include "tenon/native/prod_backward.h"
#include "tenon/native/sum_backward.h"
#include "tenon/ops/_prod_gradient.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/div.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/isnan.h"
#include "tenon/ops/logical_and.h"
#include "tenon/ops/logical_or.h"
#include "tenon/ops/masked_fill.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/pow.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sgn.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/to.h"
#include "tenon/ops/transpose.h"

#include <algorithm>
#include <cmath>

namespace tenon {
namespace {

DimVector dims_of(uint64_t mask, int64_t rank) {
  DimVector dims;
  for (int64_t i = 0; i < rank; ++i) {
    if ((mask >> i) & 1) dims.push_back(i);
  }
  return dims;
}

/// A reduced tensor with a 1 for every dimension that is gone, so that it broadcasts to `sizes`.
Tensor restored(const Tensor& reduced, IntArrayRef sizes, OptionalIntArrayRef dim, bool keepdim) {
  if (keepdim || sizes.empty()) return reduced;
  const auto rank = static_cast<int64_t>(sizes.size());
  return ops::reshape::call(
      reduced, native::reduced_sizes(sizes, native::dim_mask("reduce", dim, rank), true));
}

int64_t reduced_count(IntArrayRef sizes, OptionalIntArrayRef dim) {
  const uint64_t mask = native::dim_mask("reduce", dim, static_cast<int64_t>(sizes.size()));
  int64_t count = 1;
  for (size_t i = 0; i < sizes.size(); ++i) count *= ((mask >> i) & 1) ? sizes[i] : 1;
  return count;
}

/// Whether what is computed now is recorded, has tangents, or is batched.
bool is_differentiated() {
  return GradMode::is_enabled() || thread_state.batched_gradients ||
         DispatchKeySet(thread_state.enabled_layers, 0).has(DispatchLayer::ForwardGrad);
}

}  // namespace

Tensor native::sum_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim,
                            bool keepdim) {
  return ops::expand::call(restored(grad, sizes, dim, keepdim), sizes, false);
}

Tensor native::mean_backward(const Tensor& grad, IntArrayRef sizes, OptionalIntArrayRef dim,
                             bool keepdim) {
  const Tensor scaled = ops::div_Scalar::call(grad, Scalar(reduced_count(sizes, dim)));
  return native::sum_backward(scaled, sizes, dim, keepdim);
}

Tensor native::prod_backward(const Tensor& grad, const Tensor& self, OptionalIntArrayRef dim,
                             bool keepdim) {
  if (self.dim() == 0) return grad;
  TENON_CHECK(!dim || dim->size() <= 1, "[prod_backward] expected at most one dimension, got ",
              *dim);
  if (!dim || dim->empty()) {
    const Tensor flat = ops::reshape::call(self, {-1});
    return ops::reshape::call(native::prod_backward(grad, flat, 0, false), self.sizes());
  }
  const int64_t d = (*dim)[0];
  if (!is_differentiated() && !is_complex(self.scalar_type()))
    return ops::_prod_gradient::call(grad, self, d);
  const Tensor g = restored(grad, self.sizes(), dim, keepdim);
  const Tensor rows = ops::transpose_int::call(self, d, -1);
  const Tensor others = ops::transpose_int::call(native::product_of_others(rows), d, -1);
  return ops::mul_Tensor::call(g, ops::conj::call(others));
}

/// Equal extremes share the gradient.
Tensor native::evenly_distribute_backward(const Tensor& grad, const Tensor& self,
                                          const Tensor& result, OptionalIntArrayRef dim,
                                          bool keepdim) {
  const Tensor g = restored(grad, self.sizes(), dim, keepdim);
  const Tensor r = restored(result, self.sizes(), dim, keepdim);
  const Tensor same =
      ops::logical_or::call(ops::eq_Tensor::call(self, r),
                            ops::logical_and::call(ops::isnan::call(self), ops::isnan::call(r)));
  const DimVector dims = dims_of(dim_mask("amax", dim, self.dim()), self.dim());
  const Tensor count =
      dims.empty() ? same : ops::sum_dim_IntList::call(same, IntArrayRef(dims), true, std::nullopt);
  const Tensor share = ops::div_Tensor::call(g, count.to(grad.scalar_type()));
  return ops::mul_Tensor::call(share, same);
}

Tensor native::linalg_vector_norm_backward(const Tensor& grad, const Tensor& self,
                                           const Scalar& ord, const Tensor& result,
                                           OptionalIntArrayRef dim, bool keepdim) {
  const double p = ord.toDouble();
  const Tensor g = restored(grad, self.sizes(), dim, keepdim);
  const Tensor r = restored(result, self.sizes(), dim, keepdim);
  if (p == 0) return {};
  if (p == 1) return ops::mul_Tensor::call(g, ops::sgn::call(self));
  const Tensor zero = ops::eq_Scalar::call(r, 0);
  if (p == 2) {
    return ops::mul_Tensor::call(
        self, ops::masked_fill_Scalar::call(ops::div_Tensor::call(g, r), zero, 0));
  }
  if (std::isinf(p)) {
    return ops::mul_Tensor::call(
        native::evenly_distribute_backward(g, ops::abs::call(self), r, dim, true),
        ops::sgn::call(self));
  }
  // sgn(x) (|x| / s)^(p-1) (r / s)^(1-p), which does not depend on s: with s = r, without history,
  // it does not leave the range in between, and an x whose power has no derivative is apart from r.
  const Tensor norm = ops::masked_fill_Scalar::call(r, zero, 1);
  const Tensor scale = norm.detach();
  const Tensor ratio =
      ops::masked_fill_Scalar::call(ops::div_Tensor::call(ops::abs::call(self), scale), zero, 0);
  Tensor power = ops::pow_Tensor_Scalar::call(ratio, p - 1);
  if (p < 1) power = ops::masked_fill_Scalar::call(power, ops::eq_Scalar::call(ratio, 0), 0);
  Tensor grads = ops::mul_Tensor::call(g, ops::mul_Tensor::call(power, ops::sgn::call(self)));
  if (is_differentiated()) {  // else it is 1
    grads = ops::mul_Tensor::call(
        grads, ops::pow_Tensor_Scalar::call(ops::div_Tensor::call(norm, scale), 1 - p));
  }
  return grads;
}

}  // namespace tenon

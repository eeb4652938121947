#include "aten/batching/examples.h"
#include "aten/core/thread_state.h"
#include "tenon/native/_differentiable_once.h"
#include "tenon/native/scatter_reduce_self_backward.h"
#include "tenon/native/scatter_reduce_src_backward.h"
#include "tenon/ops/_differentiable_once.h"
#include "tenon/ops/any.h"
#include "tenon/ops/clamp_min.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/div.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/gather.h"
#include "tenon/ops/gt.h"
#include "tenon/ops/item.h"
#include "tenon/ops/logical_and.h"
#include "tenon/ops/masked_fill.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/new_full.h"
#include "tenon/ops/ones_like.h"
#include "tenon/ops/scatter.h"
#include "tenon/ops/scatter_add.h"
#include "tenon/ops/scatter_reduce.h"
#include "tenon/ops/to.h"
#include "tenon/ops/where.h"

namespace tenon {
namespace {

/// How many elements each place is made of; 1 where it is none.
Tensor counts(const Tensor& self, int64_t dim, const Tensor& index, bool include_self) {
  return new_full(index, self.sizes(), include_self ? 1 : 0)
      .scatter_add(dim, index, ones_like(index))
      .clamp_min(1);
}

/// The gradient over the elements that are equal to the result, of self's where it is included.
Tensor shares(const Tensor& grad, const Tensor& self, int64_t dim, const Tensor& index,
              const Tensor& src, bool include_self, const Tensor& result) {
  const Tensor at_self = (self == result).to(kLong);
  const Tensor mine = include_self ? at_self : at_self.scatter(dim, index, 0);
  return grad / mine.scatter_add(dim, index, (src == result.gather(dim, index)).to(kLong));
}

/// The gradient of `src` in products. The result by an element is the product of the others; where
/// it is the only zero that is computed with 1 in its place.
Tensor product_src_backward(const Tensor& grad, const Tensor& self, int64_t dim,
                            const Tensor& index, const Tensor& src, bool include_self,
                            const Tensor& result) {
  const Tensor is_zero = src == 0;
  const Tensor zeros = new_full(index, self.sizes(), 0)
                           .scatter_add(dim, index, is_zero.to(index.scalar_type()))
                           .gather(dim, index);
  const Tensor only_zero = logical_and(is_zero, zeros == 1);
  const Tensor without =
      scatter_reduce(self, dim, index, src.masked_fill(only_zero, 1), "prod", include_self);
  const Tensor gradient =
      where(only_zero, (grad * without.conj()).gather(dim, index),
            (grad * result.conj()).gather(dim, index) / src.masked_fill(is_zero, 1).conj());
  const bool recorded = GradMode::is_enabled() && gradient.requires_grad();
  if (!recorded || gradient.is_meta() || !batching::any_of_examples(zeros > 1)) return gradient;
  return ops::_differentiable_once::call(gradient);
}

}  // namespace

Tensor native::_differentiable_once(const Tensor& self) { return self.clone(); }

/// The gradient of `self`, which is included.
Tensor native::scatter_reduce_self_backward(const Tensor& grad, const Tensor& self, int64_t dim,
                                            const Tensor& index, const Tensor& src,
                                            std::string_view reduce, const Tensor& result) {
  if (reduce == "sum") return grad;
  if (reduce == "mean") return grad / counts(self, dim, index, true);
  if (reduce == "prod") {
    const Tensor nonzero = self.masked_fill(self == 0, 1);
    return grad * (tenon::scatter_reduce(nonzero, dim, index, src, "prod", true) / nonzero).conj();
  }
  return (self == result).to(grad.scalar_type()) *
         shares(grad, self, dim, index, src, true, result);
}

/// The gradient of `src`.
Tensor native::scatter_reduce_src_backward(const Tensor& grad, const Tensor& self, int64_t dim,
                                           const Tensor& index, const Tensor& src,
                                           std::string_view reduce, bool include_self,
                                           const Tensor& result) {
  if (reduce == "sum") return grad.gather(dim, index);
  if (reduce == "mean") return (grad / counts(self, dim, index, include_self)).gather(dim, index);
  if (reduce == "prod") {
    return product_src_backward(grad, self, dim, index, src, include_self, result);
  }
  return (src == result.gather(dim, index)).to(grad.scalar_type()) *
         shares(grad, self, dim, index, src, include_self, result).gather(dim, index);
}

}  // namespace tenon

#include "tenon/native/vander.h"

#include "tenon/native/linalg_vander.h"
#include "tenon/ops/cat.h"

namespace tenon {
namespace {

/// [..., n] -> [..., n, count]: the powers 0, 1, ... of each element.
Tensor powers(const Tensor& x, int64_t count) {
  DimVector sizes(x.sizes());
  sizes.push_back(count - 1);
  const Tensor base = x.unsqueeze(-1);
  const Tensor higher = base.expand(sizes).cumprod(-1);
  return cat({base.new_ones(base.sizes()).to(higher.scalar_type()), higher}, -1);
}

}  // namespace

/// Of a vector: [n] -> [n, N], the powers N - 1 to 0 of each element, or 0 to N - 1. N is n by
/// default.
Tensor native::vander(const Tensor& x, std::optional<int64_t> N, bool increasing) {
  TENON_CHECK(x.dim() == 1, "[vander] x must be a one-dimensional tensor, got shape ", x.sizes());
  const int64_t n = N.value_or(x.size(0));
  TENON_CHECK(n >= 0, "[vander] N must be non-negative, got ", n);
  const Tensor number = x.to(promote_types(x.scalar_type(), kLong));
  if (n == 0) return number.new_empty({x.size(0), 0});
  const Tensor all = powers(number, n);
  return increasing ? all : all.flip({1});
}

/// Of vectors: [..., n] -> [..., n, N] with rising powers. Of a number: [1, N].
Tensor native::linalg_vander(const Tensor& x, std::optional<int64_t> N) {
  TENON_CHECK_NOT_IMPLEMENTED(
      x.scalar_type() != kBool && !is_reduced_floating_point(x.scalar_type()),
      "[linalg.vander] supports floating point, complex, and integer tensors, but got ",
      x.scalar_type());
  const int64_t n = N.value_or(x.dim() == 0 ? 1 : x.size(-1));
  TENON_CHECK(n > 1, "[linalg.vander] N must be greater than 1, got ", n);
  return powers(x.dim() == 0 ? x.reshape({1}) : x, n);
}

}  // namespace tenon

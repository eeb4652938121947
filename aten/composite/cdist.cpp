#include "tenon/native/cdist.h"

#include "tenon/ops/cat.h"
#include "tenon/ops/linalg_vector_norm.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/sqrt.h"

namespace tenon {
namespace {

/// Many Euclidean distances as one matrix product: |a - b|^2 = |a|^2 - 2 a b + |b|^2. What that
/// leaves below zero is zero, and has no gradient, as the distance of a row from itself has none.
Tensor euclidean_by_product(const Tensor& x1, const Tensor& x2) {
  const Tensor norm1 = (x1 * x1).sum({-1}, true), norm2 = (x2 * x2).sum({-1}, true);
  const Tensor a = cat({x1 * -2, norm1, norm1.new_ones(norm1.sizes())}, -1);
  const Tensor b = cat({x2, norm2.new_ones(norm2.sizes()), norm2}, -1);
  const Tensor squares = matmul(a, b.transpose(-2, -1)).clamp_min(0);
  const Tensor zero = squares.detach() == 0;
  return sqrt(squares.masked_fill(zero, 1)).masked_fill(zero, 0);
}

}  // namespace

/// [..., P, M] and [..., R, M] -> [..., P, R]: the distance of each row from each row by the norm
/// p. compute_mode: 1 and, for more than 25 rows, 0 or none use a matrix product for p = 2; 2 does
/// not.
Tensor native::cdist(const Tensor& x1, const Tensor& x2, double p,
                     std::optional<int64_t> compute_mode) {
  TENON_CHECK(x1.is_floating_point(),
              "[cdist] only supports floating-point dtypes, X1 got: ", x1.scalar_type());
  TENON_CHECK(x2.is_floating_point(),
              "[cdist] only supports floating-point dtypes, X2 got: ", x2.scalar_type());
  TENON_CHECK(x1.dim() >= 2, "[cdist] only supports at least 2D tensors, X1 got: ", x1.dim(), "D");
  TENON_CHECK(x2.dim() >= 2, "[cdist] only supports at least 2D tensors, X2 got: ", x2.dim(), "D");
  TENON_CHECK(x1.size(-1) == x2.size(-1),
              "[cdist] X1 and X2 must have the same number of columns. X1: ", x1.size(-1),
              " X2: ", x2.size(-1));
  TENON_CHECK(p >= 0, "[cdist] only supports non-negative p values, got ", p);
  TENON_CHECK(x1.scalar_type() == x2.scalar_type() || x1.numel() == 0 || x2.numel() == 0,
              "[cdist] expected scalar type ", x1.scalar_type(), " but found ", x2.scalar_type());
  const int64_t mode = compute_mode.value_or(0);
  TENON_CHECK(mode >= 0 && mode <= 2, "[cdist] possible modes: 0, 1, 2, but was: ", mode);
  const bool many = x1.size(-2) > 25 || x2.size(-2) > 25;
  if (p == 2 && (mode == 1 || (mode == 0 && many))) return euclidean_by_product(x1, x2);
  return linalg_vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, IntArrayRef({-1}));
}

}  // namespace tenon

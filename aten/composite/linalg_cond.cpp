#include "tenon/native/linalg_cond.h"

#include <cmath>
#include <limits>

#include "aten/meta/matrices.h"
#include "tenon/ops/div.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/linalg_inv_ex.h"
#include "tenon/ops/linalg_matrix_norm.h"
#include "tenon/ops/linalg_svdvals.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/nan_to_num.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/where.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// The norm of A times that of its inverse, infinite where there is none.
template <typename Order>
Tensor by_inverse(const Tensor& self, const Order& order) {
  const auto [inverse, info] = tenon::linalg_inv_ex(self, false);
  const Tensor inverses = where(info.eq(0).unsqueeze(-1).unsqueeze(-1), inverse, Scalar(kInf));
  const auto norm = [&](const Tensor& t) {
    return tenon::linalg_matrix_norm(t, order, {-2, -1}, false, std::nullopt);
  };
  return tenon::nan_to_num(norm(self) * norm(inverses), kInf, kInf, -kInf);
}

Tensor of_empty(const Tensor& self) {
  return zeros(meta::batch_sizes(self), self.options().dtype(to_real(self.scalar_type())));
}

}  // namespace

/// How much A x may change relative to x: the largest singular value over the smallest, or for -2
/// the other way round; of other norms that of A times that of its inverse.
Tensor native::linalg_cond(const Tensor& self, const std::optional<Scalar>& p) {
  TENON_CHECK(self.dim() >= 2, "[linalg.cond] The input tensor must have at least 2 dimensions.");
  const double order = p ? p->toDouble() : 2, size = std::abs(order);
  TENON_CHECK_VALUE(size == 1 || size == 2 || std::isinf(size),
                    "[linalg.cond] linalg.cond got an invalid norm type: ", order);
  if (self.numel() == 0) return of_empty(self);
  if (size == 2) {
    const Tensor values = tenon::linalg_svdvals(self, std::nullopt);
    const Tensor largest = values.select(-1, 0), smallest = values.select(-1, -1);
    return order < 0 ? smallest / largest : largest / smallest;
  }
  meta::check_square(size == 1 ? (order > 0 ? "linalg.cond(ord=1)" : "linalg.cond(ord=-1)")
                               : (order > 0 ? "linalg.cond(ord=inf)" : "linalg.cond(ord=-inf)"),
                     "A", self);
  return by_inverse(self, Scalar(order));
}

Tensor native::linalg_cond_p_str(const Tensor& self, std::string_view p) {
  meta::check_square(("linalg.cond(ord=" + std::string(p) + ")").c_str(), "A", self);
  TENON_CHECK_VALUE(p == "fro" || p == "nuc",
                    "[linalg.cond] linalg.cond got an invalid norm type: ", p);
  if (self.numel() == 0) return of_empty(self);
  if (p == "fro") return by_inverse(self, p);
  const Tensor values = tenon::linalg_svdvals(self, std::nullopt);
  return values.sum(IntArrayRef(-1), false) * (1 / values).sum(IntArrayRef(-1), false);
}

}  // namespace tenon

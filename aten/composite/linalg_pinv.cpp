#include "tenon/native/linalg_pinv.h"

#include <limits>

#include "aten/meta/matrices.h"
#include "tenon/native/linalg_matrix_rank.h"
#include "tenon/ops/_linalg_eigh.h"
#include "tenon/ops/_linalg_svd.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/adjoint.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/full.h"
#include "tenon/ops/gt.h"
#include "tenon/ops/linalg_eigvalsh.h"
#include "tenon/ops/linalg_matrix_rank.h"
#include "tenon/ops/linalg_pinv.h"
#include "tenon/ops/linalg_svdvals.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/maximum.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/reciprocal.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/where.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

Tensor number(double value, const Tensor& like) {
  return full({}, value, like.options().dtype(kDouble));
}

/// What singular values [..., k] must exceed: the larger of atol and rtol times the largest of
/// them. rtol is max(m, n) eps by default, and 0 if there is a positive atol.
Tensor limit(const char* op, const Tensor& self, const std::optional<Tensor>& atol,
             const std::optional<Tensor>& rtol, const Tensor& sizes) {
  const auto check = [op](const std::optional<Tensor>& t, const char* name) {
    TENON_CHECK(!t || !t->is_complex(), "[", op, "] ", name,
                " tensor of complex type is not supported. Got ", t ? t->scalar_type() : kFloat);
  };
  check(atol, "atol");
  check(rtol, "rtol");
  const double eps = to_real(self.scalar_type()) == kDouble
                         ? std::numeric_limits<double>::epsilon()
                         : static_cast<double>(std::numeric_limits<float>::epsilon());
  const double usual = eps * static_cast<double>(std::max(self.size(-2), self.size(-1)));
  const Tensor relative = rtol   ? *rtol
                          : atol ? where(*atol > 0, number(0, self), number(usual, self))
                                 : number(usual, self);
  const Tensor of_largest = relative.unsqueeze(-1) * sizes.amax(-1, true);
  return atol ? maximum(atol->unsqueeze(-1), of_largest) : of_largest;
}

/// The limit by default depends on the dtype's precision.
void check_precision(const char* op, const Tensor& self, bool has_rtol) {
  const ScalarType type = to_real(self.scalar_type());
  TENON_CHECK(has_rtol || type == kFloat || type == kDouble, "[", op,
              "] This function doesn't handle types other than float and double, got ",
              self.scalar_type());
}

std::optional<Tensor> as_tensor(std::optional<double> value, const Tensor& like) {
  return value ? std::optional(number(*value, like)) : std::nullopt;
}

}  // namespace

/// Of A = U S V^H it is V S^+ U^H, in which S^+ has 1 / s of the singular values beyond the limit
/// and 0 of the others (Moore and Penrose).
Tensor native::linalg_pinv_atol_rtol_tensor(const Tensor& self, const std::optional<Tensor>& atol,
                                            const std::optional<Tensor>& rtol, bool hermitian) {
  TENON_CHECK(self.dim() >= 2 && is_differentiable(self.scalar_type()) &&
                  !is_reduced_floating_point(self.scalar_type()),
              "[linalg.pinv] linalg.pinv(", self.scalar_type(), "{", self.sizes(),
              "}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble "
              "types");
  if (self.numel() == 0) {
    DimVector sizes = meta::batch_sizes(self);
    sizes.push_back(self.size(-1));
    sizes.push_back(self.size(-2));
    return zeros(sizes, self.options());
  }
  const auto inverted = [&](const Tensor& values, const Tensor& sizes) {
    const Tensor kept = sizes > limit("linalg.pinv", self, atol, rtol, sizes);
    return where(kept, values.reciprocal(), Scalar(0)).unsqueeze(-2);
  };
  if (hermitian) {
    const auto [L, V] = _linalg_eigh(self, "L", true);
    return matmul(V * inverted(L, L.abs()), adjoint(V));
  }
  const auto [U, S, Vh] = _linalg_svd(self, false, true, std::nullopt);
  return matmul(adjoint(Vh) * inverted(S, S), adjoint(U));
}

Tensor native::linalg_pinv_atol_rtol_float(const Tensor& self, std::optional<double> atol,
                                           std::optional<double> rtol, bool hermitian) {
  if (atol && !rtol) {
    self.size(-2);  // IndexError, as PyTorch's
    check_precision("linalg.pinv", self, false);
  }
  return ops::linalg_pinv_atol_rtol_tensor::call(self, as_tensor(atol, self), as_tensor(rtol, self),
                                                 hermitian);
}

Tensor native::linalg_pinv(const Tensor& self, double rcond, bool hermitian) {
  return ops::linalg_pinv_atol_rtol_tensor::call(self, number(0, self), number(rcond, self),
                                                 hermitian);
}

Tensor native::linalg_pinv_rcond_tensor(const Tensor& self, const Tensor& rcond, bool hermitian) {
  return ops::linalg_pinv_atol_rtol_tensor::call(self, number(0, self), rcond, hermitian);
}

/// How many singular values, or sizes of the eigenvalues of Hermitian matrices, exceed the limit.
Tensor native::linalg_matrix_rank_atol_rtol_tensor(const Tensor& input,
                                                   const std::optional<Tensor>& atol,
                                                   const std::optional<Tensor>& rtol,
                                                   bool hermitian) {
  TENON_CHECK(input.dim() >= 2,
              "[linalg.matrix_rank] The input tensor input must have at least 2 dimensions.");
  check_precision("linalg.matrix_rank", input, rtol.has_value());
  if (input.numel() == 0) {
    return zeros(meta::batch_sizes(input), input.options().dtype(kLong));
  }
  const Tensor sizes = hermitian ? tenon::linalg_eigvalsh(input, "L").abs()
                                 : tenon::linalg_svdvals(input, std::nullopt);
  return (sizes > limit("linalg.matrix_rank", input, atol, rtol, sizes))
      .sum(IntArrayRef(-1), false);
}

Tensor native::linalg_matrix_rank_atol_rtol_float(const Tensor& self, std::optional<double> atol,
                                                  std::optional<double> rtol, bool hermitian) {
  return native::linalg_matrix_rank_atol_rtol_tensor(self, as_tensor(atol, self),
                                                     as_tensor(rtol, self), hermitian);
}

Tensor native::linalg_matrix_rank(const Tensor& self, double tol, bool hermitian) {
  return native::linalg_matrix_rank_atol_rtol_tensor(self, number(tol, self), number(0, self),
                                                     hermitian);
}

Tensor native::linalg_matrix_rank_tol_tensor(const Tensor& input, const Tensor& tol,
                                             bool hermitian) {
  return native::linalg_matrix_rank_atol_rtol_tensor(input, tol, number(0, input), hermitian);
}

}  // namespace tenon

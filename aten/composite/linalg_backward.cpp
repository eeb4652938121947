#include "aten/batching/examples.h"
#include "aten/core/thread_state.h"
#include "tenon/native/_linalg_det_backward.h"
#include "tenon/native/_linalg_lu_factor_backward.h"
#include "tenon/native/_linalg_lu_solve_backward.h"
#include "tenon/native/_linalg_slogdet_backward.h"
#include "tenon/native/_linalg_solve_backward.h"
#include "tenon/native/_linalg_solve_triangular_backward.h"
#include "tenon/native/_lu_unpack_backward.h"
#include "tenon/native/triangular_solve.h"
#include "tenon/ops/_linalg_svd.h"
#include "tenon/ops/any.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/diag_embed.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/imag.h"
#include "tenon/ops/item.h"
#include "tenon/ops/linalg_det.h"
#include "tenon/ops/linalg_lu_solve.h"
#include "tenon/ops/linalg_solve.h"
#include "tenon/ops/linalg_solve_ex.h"
#include "tenon/ops/linalg_solve_triangular.h"
#include "tenon/ops/lu_unpack.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/prod.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum_to_size.h"
#include "tenon/ops/tril.h"
#include "tenon/ops/triu.h"
#include "tenon/ops/zeros.h"

/// Gradients of factorizations and of the solutions of linear systems. With A X = B, the gradient
/// of B is A^-H gX and that of A is -gB X^H (Giles 2008).
namespace tenon {
namespace {

Tensor hermitian(const Tensor& t) { return t.transpose(-2, -1).conj(); }

/// Whether what is computed now is recorded, or has tangents: then the factors, which are no
/// functions of A to autograd, cannot stand for it.
bool is_recorded() {
  return GradMode::is_enabled() ||
         DispatchKeySet(thread_state.enabled_layers, 0).has(DispatchLayer::ForwardGrad);
}

/// Whether the factors that a determinant leaves are those of the transposed matrices.
bool factors_transpose(const Tensor& A) { return A.is_contiguous() && !A.is_complex(); }

/// A^-H B, or B A^-H if not left, from the factors if nothing is recorded. `of_adjoint`: the
/// factors are those of A^H.
Tensor solve_adjoint(const Tensor& A, const Tensor& LU, const Tensor& pivots, const Tensor& B,
                     bool left, bool of_adjoint) {
  if (is_recorded()) {
    const auto [X, info] = linalg_solve_ex(hermitian(A), B, left, false);
    return X;
  }
  return linalg_lu_solve(LU, pivots, B, left, !of_adjoint);
}

Tensor to_sizes(const Tensor& t, const Tensor& like) {
  return ops::sum_to_size::call(t, like.sizes());
}

/// conj(det(A)) A^-H also of singular matrices: with A = U S V^H it is
/// conj(det(U) det(V^H)) U diag(products of the other singular values) V^H.
Tensor cofactors(const Tensor& A) {
  const auto [U, S, Vh] = _linalg_svd(A, false, true, std::nullopt);
  const Tensor one = eye(S.size(-1), S.options());
  const Tensor others = prod(S.unsqueeze(-2) * (1 - one) + one, -1, false, std::nullopt);
  const Tensor phase = (linalg_det(U) * linalg_det(Vh)).conj().unsqueeze(-1).unsqueeze(-1);
  return phase * matmul(U * others.unsqueeze(-2), Vh);
}

}  // namespace

/// A = P L U, with X = L^-1 dL + dU U^-1 of the square part: dL is L times its strictly lower
/// triangle, dU its upper one times U. What is beside the square part of U, or below that of L,
/// depends on X as well.
Tensor native::_linalg_lu_factor_backward(const Tensor& grad, const Tensor& LU,
                                          const Tensor& pivots) {
  const int64_t m = LU.size(-2), n = LU.size(-1), k = std::min(m, n);
  const auto square = [k](const Tensor& t) { return t.narrow(-2, 0, k).narrow(-1, 0, k); };
  const Tensor factors = square(LU), g = square(grad);
  const Tensor g_lower = g.tril(-1), g_upper = g.triu();
  Tensor of_lower = g_lower + matmul(hermitian(factors.tril(-1)), g_lower);
  Tensor of_upper = matmul(g_upper, hermitian(factors.triu()));
  if (n > k) {
    of_lower = of_lower - matmul(grad.narrow(-1, k, n - k), hermitian(LU.narrow(-1, k, n - k)));
  }
  if (m > k) {
    of_upper = of_upper - matmul(hermitian(LU.narrow(-2, k, m - k)), grad.narrow(-2, k, m - k));
  }
  const Tensor F = hermitian(factors);
  // F is lower triangular of U, upper triangular with a diagonal of ones of L.
  const auto by_upper = [&](const Tensor& t) {
    return linalg_solve_triangular(F, t, false, false, false);
  };
  const auto by_lower = [&](const Tensor& t) {
    return linalg_solve_triangular(F, t, true, true, true);
  };
  Tensor result = by_lower(by_upper(of_lower.tril(-1) + of_upper.triu()));
  if (n > k) result = cat({result, by_lower(grad.narrow(-1, k, n - k))}, -1);
  if (m > k) result = cat({result, by_upper(grad.narrow(-2, k, m - k))}, -2);
  const auto [P, L, U] = lu_unpack(LU, pivots, false, true);
  return matmul(P, result);
}

Tensor native::_lu_unpack_backward(const std::optional<Tensor>& grad_L,
                                   const std::optional<Tensor>& grad_U, int64_t m, int64_t n) {
  const int64_t k = std::min(m, n);
  // Without unpack_data L and U are empty, of one dimension.
  const auto is_of_matrix = [](const std::optional<Tensor>& grad) {
    return grad && grad->defined() && grad->dim() >= 2;
  };
  Tensor result;
  if (is_of_matrix(grad_L)) {
    result = grad_L->tril(-1);
    if (n > k) result = constant_pad_nd(result, {0, n - k}, 0);
  }
  if (is_of_matrix(grad_U)) {
    Tensor upper = grad_U->triu();
    if (m > k) upper = constant_pad_nd(upper, {0, 0, 0, m - k}, 0);
    result = result.defined() ? result + upper : upper;
  }
  return result;
}

/// The gradient of A, which LU stands for, is passed on to L and U.
Tensor native::_linalg_lu_solve_backward(const Tensor& grad, const Tensor& X, const Tensor& LU,
                                         const Tensor& pivots, bool left, bool adjoint) {
  const Tensor gB = linalg_lu_solve(LU, pivots, grad, left, !adjoint);
  const Tensor Xh = hermitian(X);
  Tensor gA = left ? matmul(gB, Xh) : matmul(Xh, gB);
  gA = to_sizes(adjoint ? -hermitian(gA) : -gA, LU);
  const auto [P, L, U] = lu_unpack(LU, pivots, true, true);
  const Tensor G = matmul(P.transpose(-2, -1), gA);
  return matmul(G, hermitian(U)).tril(-1) + matmul(hermitian(L), G).triu();
}

std::tuple<Tensor, Tensor> native::_linalg_solve_backward(const Tensor& grad, const Tensor& result,
                                                          const Tensor& A, const Tensor& B,
                                                          const Tensor& LU, const Tensor& pivots,
                                                          bool left,
                                                          std::array<bool, 2> output_mask) {
  const bool is_vector = B.dim() == 1 || (A.dim() - 1 == B.dim() &&
                                          B.sizes() == A.sizes().slice(0, A.sizes().size() - 1));
  const auto matrix = [is_vector](const Tensor& t) { return is_vector ? t.unsqueeze(-1) : t; };
  const Tensor gB = solve_adjoint(A, LU, pivots, matrix(grad), left, false);
  Tensor gA;
  if (output_mask[0]) {
    const Tensor Xh = hermitian(matrix(result));
    gA = to_sizes(left ? -matmul(gB, Xh) : -matmul(Xh, gB), A);
  }
  return {gA, output_mask[1] ? to_sizes(is_vector ? gB.squeeze(-1) : gB, B) : Tensor()};
}

std::tuple<Tensor, Tensor> native::_linalg_solve_triangular_backward(
    const Tensor& grad, const Tensor& result, const Tensor& self, const Tensor& B, bool upper,
    bool left, bool unitriangular, std::array<bool, 2> output_mask) {
  const Tensor gB = linalg_solve_triangular(hermitian(self), grad, !upper, left, unitriangular);
  Tensor gA;
  if (output_mask[0]) {
    const Tensor Xh = hermitian(result);
    const Tensor full = left ? -matmul(gB, Xh) : -matmul(Xh, gB);
    const int64_t ones = unitriangular ? 1 : 0;
    gA = to_sizes(upper ? full.triu(ones) : full.tril(-ones), self);
  }
  return {gA, output_mask[1] ? to_sizes(gB, B) : Tensor()};
}

/// d det(A) = det(A) tr(A^-1 dA).
Tensor native::_linalg_det_backward(const Tensor& grad, const Tensor& result, const Tensor& A,
                                    const Tensor& LU, const Tensor& pivots) {
  if (A.numel() == 0) return zeros(A.sizes(), A.options());
  const auto on_matrices = [](const Tensor& t) { return t.unsqueeze(-1).unsqueeze(-1); };
  const bool is_singular = !A.is_meta() && batching::any_of_examples(result.eq(0));
  if (is_singular) return on_matrices(grad) * cofactors(A);
  const Tensor factor = on_matrices(grad * result.conj());
  return solve_adjoint(A, LU, pivots, factor * eye(A.size(-1), A.options()), true,
                       factors_transpose(A));
}

/// With z = tr(A^-1 dA), logabsdet changes by its real part and sign by i sign times its imaginary
/// one.
Tensor native::_linalg_slogdet_backward(const std::optional<Tensor>& grad_sign,
                                        const std::optional<Tensor>& grad_logabsdet,
                                        const Tensor& sign, const Tensor& A, const Tensor& LU,
                                        const Tensor& pivots) {
  Tensor factor;
  if (grad_logabsdet && grad_logabsdet->defined()) factor = *grad_logabsdet;
  if (A.is_complex() && grad_sign && grad_sign->defined()) {
    const Tensor turned = imag(grad_sign->conj() * sign) * Scalar(std::complex<double>(0, -1));
    factor = factor.defined() ? factor + turned : turned;
  }
  if (!factor.defined()) return zeros(A.sizes(), A.options());
  if (A.numel() == 0) return zeros(A.sizes(), A.options());
  return solve_adjoint(A, LU, pivots,
                       factor.unsqueeze(-1).unsqueeze(-1) * eye(A.size(-1), A.options()), true,
                       factors_transpose(A));
}

/// X with A X = self for a triangular A, or A^T with `transpose`, and A as it was broadcast.
std::tuple<Tensor, Tensor> native::triangular_solve(const Tensor& self, const Tensor& A, bool upper,
                                                    bool transpose, bool unitriangular) {
  TENON_CHECK(self.dim() >= 2, "[triangular_solve] Expected b to have at least 2 dimensions, but ",
              "it has ", self.dim(), " dimensions instead");
  TENON_CHECK(A.dim() >= 2, "[triangular_solve] Expected A to have at least 2 dimensions, but it ",
              "has ", A.dim(), " dimensions instead");
  TENON_CHECK(self.scalar_type() == A.scalar_type(), "[triangular_solve] Expected b and A to have ",
              "the same dtype, but found b of type ", self.scalar_type(), " and A of type ",
              A.scalar_type(), " instead.");
  TENON_CHECK(A.size(-1) == A.size(-2), "[triangular_solve] A must be batches of square matrices, ",
              "but they are ", A.size(-2), " by ", A.size(-1), " matrices");
  TENON_CHECK(A.size(-2) == self.size(-2), "[triangular_solve] Incompatible matrix sizes for ",
              "triangular_solve: each A matrix is ", A.size(-2), " by ", A.size(-1),
              " but each b matrix is ", self.size(-2), " by ", self.size(-1));
  const Tensor X = linalg_solve_triangular(transpose ? A.transpose(-2, -1) : A, self,
                                           upper != transpose, true, unitriangular);
  DimVector sizes(X.sizes());
  sizes.back() = A.size(-1);
  const Tensor columns = A.expand(sizes).transpose(-2, -1);
  return {X, columns.clone(MemoryFormat::Contiguous).transpose(-2, -1)};
}

}  // namespace tenon

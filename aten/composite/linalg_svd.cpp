#include "tenon/native/linalg_svdvals.h"

#include <limits>

#include "aten/batching/examples.h"
#include "aten/composite/may_be_differentiated.h"
#include "tenon/native/_linalg_svd_backward.h"
#include "tenon/native/_linalg_svd_jvp.h"
#include "tenon/native/svd.h"
#include "tenon/ops/_linalg_svd.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/add.h"
#include "tenon/ops/adjoint.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/diag_embed.h"
#include "tenon/ops/diagonal.h"
#include "tenon/ops/div.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/full_like.h"
#include "tenon/ops/imag.h"
#include "tenon/ops/item.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/max.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/real.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/zeros.h"
#include "tenon/ops/zeros_like.h"

namespace tenon {

/// The singular values of A, [..., min(m, n)], in descending order.
Tensor native::linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) {
  return std::get<1>(_linalg_svd(A, false, may_be_differentiated(A), driver));
}

/// A = U diag(S) V^H: the same with V in the place of Vh. Without compute_uv U and V are zeros.
std::tuple<Tensor, Tensor, Tensor> native::svd(const Tensor& self, bool some, bool compute_uv) {
  TENON_CHECK(self.dim() >= 2, "[linalg.svd] input should have at least 2 dimensions, but has ",
              self.dim(), " dimensions instead");
  if (compute_uv) {
    const auto [U, S, Vh] = _linalg_svd(self, !some, true, std::nullopt);
    return {U, S, adjoint(Vh)};
  }
  DimVector left(self.sizes()), right(self.sizes());
  left.back() = self.size(-2);
  right[right.size() - 2] = self.size(-1);
  return {zeros(left, self.options()), native::linalg_svdvals(self, std::nullopt),
          zeros(right, self.options()).transpose(-2, -1)};
}

/// The gradient of A = U S V^H (Townsend 2016; complex: Wan and Zhang 2019). Of what rotations
/// within U and V alone change it is U ((skew(U^H gU) S + S skew(V^H gV)) / E + gS) V^H with
/// E_ij = s_j^2 - s_i^2; the parts of gU and gV outside of U and V are divided by S. Where singular
/// values are equal, or zero in a matrix that is not square, it is infinite or NaN.
Tensor native::_linalg_svd_backward(const std::optional<Tensor>& grad_U,
                                    const std::optional<Tensor>& grad_S,
                                    const std::optional<Tensor>& grad_Vh, const Tensor& U_,
                                    const Tensor& S, const Tensor& Vh_) {
  const int64_t k = S.size(-1);
  TENON_CHECK(U_.dim() == Vh_.dim() && U_.dim() >= 2,
              "[linalg.svd] the gradient needs the vectors: compute_uv=True");
  // Vectors beyond the k-th, of full_matrices, are not determined and have no gradient.
  const Tensor U = U_.narrow(-1, 0, k), Vh = Vh_.narrow(-2, 0, k);
  const int64_t m = U.size(-2), n = Vh.size(-1);
  // What is not used has no gradient, an undefined tensor.
  const auto first = [k](const std::optional<Tensor>& grad, int64_t d) {
    return grad && grad->defined() ? grad->narrow(d, 0, k) : Tensor();
  };
  const Tensor gU = first(grad_U, -1), gS = first(grad_S, -1), gVh = first(grad_Vh, -2);
  if (!gU.defined() && !gVh.defined()) return matmul(U * gS.unsqueeze(-2), Vh);
  const auto skew = [](const Tensor& t) { return t - adjoint(t); };
  const auto plus = [](const Tensor& a, const Tensor& b) {
    return !a.defined() ? b : !b.defined() ? a : a + b;
  };
  const Tensor column = S.unsqueeze(-1), row = S.unsqueeze(-2);
  Tensor in_U, in_V, inner;
  if (gU.defined()) in_U = skew(matmul(adjoint(U), gU));
  if (gVh.defined()) in_V = skew(matmul(Vh, adjoint(gVh)));
  if (U.is_complex() && S.numel() > 0) {
    // U and V may be multiplied by a phase each column; what depends on it is no function of A.
    const Tensor along = plus(in_U, in_V).diagonal(0, -2, -1);
    TENON_CHECK(batching::most_of_examples((along - along.conj()).abs()).toDouble() <= 4e-2,
                "[svd_backward] The singular vectors in the complex case are specified up to "
                "multiplication by e^{i phi}. The specified loss function depends on this phase "
                "term, making it ill-defined.");
  }
  if (in_U.defined()) inner = in_U * row;
  if (in_V.defined()) inner = plus(inner, column * in_V);
  inner = inner / ((row - column) * (row + column) + eye(k, S.options()));
  // E's diagonal is made of ones, and that of skew matrices is imaginary.
  inner = inner - diag_embed(inner.diagonal(0, -2, -1));
  if (gS.defined()) inner = inner + diag_embed(gS);
  if (U.is_complex() && in_U.defined() && in_V.defined()) {
    inner = inner + diag_embed(in_U.diagonal(0, -2, -1) / (S * 2));
  }
  Tensor result = matmul(matmul(U, inner), Vh);
  if (m > k && gU.defined()) {
    const Tensor scaled = gU / row;
    result = result + matmul(scaled - matmul(U, matmul(adjoint(U), scaled)), Vh);
  }
  if (n > k && gVh.defined()) {
    const Tensor scaled = gVh / column;
    result = result + matmul(U, scaled - matmul(matmul(scaled, adjoint(Vh)), Vh));
  }
  return result;
}

/// The tangents of U, S and Vh for that of A. With P = U^H A_t V it is U_t = U K and Vh_t = -L Vh,
/// K_ij (s_j^2 - s_i^2) = (P S + S P^H)_ij, L_ij (s_j^2 - s_i^2) = (S P + P^H S)_ij; the parts
/// outside of U and V are divided by S. Phases of the columns change by as much in U as in V.
std::tuple<Tensor, Tensor, Tensor> native::_linalg_svd_jvp(const Tensor& A_t, const Tensor& U_,
                                                           const Tensor& S, const Tensor& Vh_) {
  const int64_t k = S.size(-1), m = A_t.size(-2), n = A_t.size(-1);
  TENON_CHECK(U_.dim() == Vh_.dim() && U_.dim() >= 2,
              "[linalg.svd] the tangent needs the vectors: compute_uv=True");
  const Tensor U = U_.narrow(-1, 0, k), Vh = Vh_.narrow(-2, 0, k);
  const Tensor column = S.unsqueeze(-1), row = S.unsqueeze(-2), V = adjoint(Vh);
  const Tensor of_rows = matmul(adjoint(U), A_t), P = matmul(of_rows, V), Ph = adjoint(P);
  const Tensor diagonal = P.diagonal(0, -2, -1);
  // E's diagonal is infinite.
  const Tensor gaps = (row - column) * (row + column) +
                      diag_embed(full_like(S, std::numeric_limits<double>::infinity()));
  Tensor in_U = (P * row + column * Ph) / gaps, in_V = (column * P + Ph * row) / gaps;
  if (P.is_complex()) {
    const Tensor phases = diag_embed(imag(diagonal) / (S * 2)) * Scalar(std::complex<double>(0, 1));
    in_U = in_U + phases;
    in_V = in_V - phases;
  }
  Tensor U_t = matmul(U, in_U), Vh_t = -matmul(in_V, Vh);
  if (m > k) U_t = U_t + (matmul(A_t, V) - matmul(U, P)) / row;
  if (n > k) Vh_t = Vh_t + (of_rows - matmul(P, Vh)) / column;
  // Vectors beyond the k-th have none.
  if (U_.size(-1) > k) U_t = cat({U_t, zeros_like(U_.narrow(-1, k, U_.size(-1) - k))}, -1);
  if (Vh_.size(-2) > k) Vh_t = cat({Vh_t, zeros_like(Vh_.narrow(-2, k, Vh_.size(-2) - k))}, -2);
  return {U_t, real(diagonal), Vh_t};
}

}  // namespace tenon

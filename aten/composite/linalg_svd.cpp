#include "tenon/native/linalg_svdvals.h"

#include "aten/core/thread_state.h"
#include "tenon/native/_linalg_svd_backward.h"
#include "tenon/native/svd.h"
#include "tenon/ops/_linalg_svd.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/add.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/diag_embed.h"
#include "tenon/ops/diagonal.h"
#include "tenon/ops/div.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/item.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/max.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

Tensor adjoint(const Tensor& t) { return t.transpose(-2, -1).conj(); }

}  // namespace

/// The singular values of A, [..., min(m, n)], in descending order.
Tensor native::linalg_svdvals(const Tensor& A, std::optional<std::string_view> driver) {
  // Their gradient is made of the vectors, and so are tangents.
  const bool forward =
      DispatchKeySet(thread_state.enabled_layers, 0).has(DispatchLayer::ForwardGrad);
  return std::get<1>(_linalg_svd(A, false, forward || A.requires_grad(), driver));
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
          zeros(right, self.options())};
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
    TENON_CHECK((along - along.conj()).abs().max().item().toDouble() <= 4e-2,
                "[svd_backward] The singular vectors in the complex case are specified up to "
                "multiplication by e^{i phi}. The specified loss function depends on this "
                "quantity, so it is ill-defined.");
  }
  if (in_U.defined()) inner = in_U * row;
  if (in_V.defined()) inner = plus(inner, column * in_V);
  inner = inner / (row * row - column * column + eye(k, S.options()));
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

}  // namespace tenon

#include "tenon/native/_linalg_eig_backward.h"

#include "aten/batching/examples.h"
#include "aten/composite/may_be_differentiated.h"
#include "tenon/native/_linalg_eig_jvp.h"
#include "tenon/native/linalg_eigvals.h"
#include "tenon/native/linalg_eigvalsh.h"
#include "tenon/ops/_linalg_eigh.h"
#include "tenon/ops/_linalg_eigvals.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/add.h"
#include "tenon/ops/adjoint.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/diag_embed.h"
#include "tenon/ops/diagonal.h"
#include "tenon/ops/div.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/imag.h"
#include "tenon/ops/item.h"
#include "tenon/ops/linalg_eig.h"
#include "tenon/ops/linalg_solve.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/max.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/real.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/to.h"

namespace tenon {
namespace {

/// M_ij / (l_j - l_i), or with the conjugate of that, and zeros on the diagonal.
Tensor over_gaps(const Tensor& M, const Tensor& values, bool conjugate) {
  const Tensor gaps =
      values.unsqueeze(-2) - values.unsqueeze(-1) + eye(values.size(-1), values.options());
  const Tensor quotients = M / (conjugate ? gaps.conj() : gaps);
  return quotients - diag_embed(quotients.diagonal(0, -2, -1));
}

}  // namespace

/// The eigenvalues of Hermitian matrices, [..., n], in ascending order.
Tensor native::linalg_eigvalsh(const Tensor& self, std::string_view UPLO) {
  return std::get<0>(_linalg_eigh(self, UPLO, may_be_differentiated(self)));
}

/// The eigenvalues of matrices, [..., n], complex.
Tensor native::linalg_eigvals(const Tensor& self) {
  return may_be_differentiated(self) ? std::get<0>(linalg_eig(self)) : _linalg_eigvals(self);
}

/// The gradient of A V = V diag(L), of which every column of V has norm 1. With the gaps E_ij = l_j
/// - l_i it is V^-H (diag(gL) + (V^H gV - V^H V Re(diag(V^H gV))) / conj(E)) V^H (Boeddeker et al.
/// 2017). Of Hermitian matrices V^-H is V, and only the skew part of V^H gV counts.
Tensor native::_linalg_eig_backward(const std::optional<Tensor>& grad_values,
                                    const std::optional<Tensor>& grad_vectors, const Tensor& values,
                                    const Tensor& vectors, bool hermitian) {
  const Tensor &V = vectors, Vh = adjoint(V);
  TENON_CHECK(V.dim() >= 2, "[linalg.eigh] the gradient needs the vectors: compute_v=True");
  const bool of_values = grad_values && grad_values->defined();
  if (!grad_vectors || !grad_vectors->defined()) {
    return hermitian ? matmul(V * grad_values->unsqueeze(-2), Vh)
                     : linalg_solve(Vh, grad_values->unsqueeze(-1) * Vh);
  }
  Tensor M = matmul(Vh, *grad_vectors);
  const Tensor diagonal = M.diagonal(0, -2, -1);
  if (V.is_complex() && V.numel() > 0) {
    // Columns may be multiplied by a phase each; what depends on it is no function of A.
    TENON_CHECK(batching::most_of_examples(imag(diagonal).abs()).toDouble() <= 1e-2, "[linalg_",
                hermitian ? "eigh" : "eig",
                "_backward] The eigenvectors in the complex case are specified up to "
                "multiplication by e^{i phi}. The specified loss function depends on this "
                "quantity, so it is ill-defined.");
  }
  M = hermitian ? (M - adjoint(M)) / 2 : M - matmul(Vh, V * real(diagonal).unsqueeze(-2));
  Tensor inner = over_gaps(M, values, !hermitian);
  if (of_values) inner = inner + diag_embed(*grad_values);
  return hermitian ? matmul(matmul(V, inner), Vh) : linalg_solve(Vh, matmul(inner, Vh));
}

/// The tangents of L and V: with P = V^-1 A_t V it is diag(P), and V X for X_ij = P_ij / (l_j -
/// l_i) made such that the columns keep norm 1.
std::tuple<Tensor, Tensor> native::_linalg_eig_jvp(const Tensor& A_t, const Tensor& values,
                                                   const Tensor& vectors, bool hermitian) {
  const Tensor &V = vectors, Vh = adjoint(V);
  TENON_CHECK(V.dim() >= 2, "[linalg.eigh] the tangent needs the vectors: compute_v=True");
  const Tensor moved = matmul(A_t.to(V.scalar_type()), V);
  Tensor P = hermitian ? matmul(Vh, moved) : linalg_solve(V, moved);
  if (hermitian) P = (P + adjoint(P)) / 2;
  const Tensor diagonal = P.diagonal(0, -2, -1);
  const Tensor change = matmul(V, over_gaps(P, values, false));
  if (hermitian) return {real(diagonal), change};
  const Tensor along = real((V.conj() * change).sum(IntArrayRef(-2), true));
  return {diagonal, change - V * along};
}

}  // namespace tenon

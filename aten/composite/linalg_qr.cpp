#include "tenon/native/_linalg_qr_backward.h"
#include "tenon/native/_linalg_qr_jvp.h"
#include "tenon/ops/add.h"
#include "tenon/ops/adjoint.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/diag_embed.h"
#include "tenon/ops/diagonal.h"
#include "tenon/ops/div.h"
#include "tenon/ops/linalg_solve_triangular.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/real.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/triu.h"
#include "tenon/ops/zeros_like.h"

namespace tenon {
namespace {

void check_differentiable(const Tensor& Q, const Tensor& R, std::string_view mode) {
  TENON_CHECK(mode != "r",
              "[linalg.qr] The derivative of linalg.qr depends on Q, which is not computed when "
              "mode='r'. Please use linalg.qr(A, mode='reduced') if you are going to differentiate "
              "through linalg.qr.");
  TENON_CHECK(mode != "complete" || Q.size(-2) <= R.size(-1),
              "[linalg.qr] The QR decomposition is not differentiable when mode='complete' and "
              "nrows > ncols.");
}

/// Of A with at least as many rows as columns: (gQ + Q (X + X^H)) R^-H, where X is the upper
/// triangle of gR R^H - Q^H gQ with half of the diagonal's real part.
Tensor tall_backward(const Tensor& grad_Q, const Tensor& grad_R, const Tensor& Q, const Tensor& R) {
  const Tensor M = matmul(grad_R, adjoint(R)) - matmul(adjoint(Q), grad_Q);
  const Tensor above = triu(M, 1);
  const Tensor sum = above + adjoint(above) + diag_embed(real(M.diagonal(0, -2, -1)));
  return linalg_solve_triangular(adjoint(R), grad_Q + matmul(Q, sum), /*upper=*/false,
                                 /*left=*/false);
}

/// The tangents of Q and R: Q_t = A_t R^-1 - Q T and R_t = T R, where T is the upper triangle of W
/// + W^H, W = Q^H A_t R^-1, with half of the diagonal.
std::tuple<Tensor, Tensor> tall_jvp(const Tensor& A_t, const Tensor& Q, const Tensor& R) {
  const Tensor over = linalg_solve_triangular(R, A_t, /*upper=*/true, /*left=*/false);
  const Tensor W = matmul(adjoint(Q), over), H = W + adjoint(W);
  const Tensor T = triu(H, 1) + diag_embed(H.diagonal(0, -2, -1) / 2);
  return {over - matmul(Q, T), matmul(T, R)};
}

}  // namespace

/// The gradient of A = Q R (Walter and Lehmann 2013). More columns than rows, A = [X, Y] and R =
/// [R1, R2], are X = Q R1 and R2 = Q^H Y.
Tensor native::_linalg_qr_backward(const std::optional<Tensor>& grad_Q,
                                   const std::optional<Tensor>& grad_R, const Tensor& Q,
                                   const Tensor& R, std::string_view mode) {
  check_differentiable(Q, R, mode);
  const auto or_zeros = [](const std::optional<Tensor>& grad, const Tensor& like) {
    return grad && grad->defined() ? *grad : zeros_like(like);
  };
  const Tensor gQ = or_zeros(grad_Q, Q), gR = or_zeros(grad_R, R);
  const int64_t m = Q.size(-2), n = R.size(-1);
  if (m >= n) return tall_backward(gQ, gR, Q, R);
  const Tensor Y = matmul(Q, R.narrow(-1, m, n - m)), gR2 = gR.narrow(-1, m, n - m);
  const Tensor gX =
      tall_backward(gQ + matmul(Y, adjoint(gR2)), gR.narrow(-1, 0, m), Q, R.narrow(-1, 0, m));
  return cat({gX, matmul(Q, gR2)}, -1);
}

std::tuple<Tensor, Tensor> native::_linalg_qr_jvp(const Tensor& A_t, const Tensor& Q,
                                                  const Tensor& R, std::string_view mode) {
  check_differentiable(Q, R, mode);
  const int64_t m = Q.size(-2), n = R.size(-1);
  if (m >= n) return tall_jvp(A_t, Q, R);
  const auto [Q_t, R1_t] = tall_jvp(A_t.narrow(-1, 0, m), Q, R.narrow(-1, 0, m));
  const Tensor R2_t = matmul(matmul(adjoint(Q_t), Q), R.narrow(-1, m, n - m)) +
                      matmul(adjoint(Q), A_t.narrow(-1, m, n - m));
  return {Q_t, cat({R1_t, R2_t}, -1)};
}

}  // namespace tenon

#include "tenon/native/_orgqr_backward.h"
#include "tenon/native/_ormqr_backward.h"
#include "tenon/ops/add.h"
#include "tenon/ops/adjoint.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/diag_embed.h"
#include "tenon/ops/diagonal.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/linalg_solve_triangular.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/ormqr.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/tril.h"
#include "tenon/ops/triu.h"
#include "tenon/ops/zeros.h"

namespace tenon {
namespace {

/// The same matrices with columns, or rows, of zeros behind them.
Tensor padded(const Tensor& t, int64_t dim, int64_t size) {
  if (t.size(dim) == size) return t;
  DimVector sizes(t.sizes());
  sizes[static_cast<size_t>(wrap_dim(dim, t.dim()))] = size - t.size(dim);
  return cat({t, zeros(sizes, t.options())}, dim);
}

/// The product of the k reflections I - tau v v^H is I - V T V^H (Schreiber and Van Loan 1989): V
/// [..., m, k] has the vectors as columns, T = D M^-1 with D = diag(tau) and M = I + triu(V^H V, 1)
/// D (Joffrain et al. 2006).
struct Reflections {
  const Tensor& matrix;
  const Tensor& tau;
  Tensor V, M, T;

  Reflections(const Tensor& matrix_, const Tensor& tau_) : matrix(matrix_), tau(tau_) {
    const int64_t m = matrix.size(-2), k = tau.size(-1);
    V = tril(matrix.narrow(-1, 0, k), -1) + eye(m, k, matrix.options());
    M = triu(matmul(adjoint(V), V), 1) * tau.unsqueeze(-2) + eye(k, matrix.options());
    T = linalg_solve_triangular(M, diag_embed(tau), /*upper=*/true, /*left=*/false,
                                /*unitriangular=*/true);
  }

  /// The gradients of the matrix and of tau for those of V and T.
  std::tuple<Tensor, Tensor> backward(const Tensor& grad_V, const Tensor& grad_T) const {
    const Tensor over = linalg_solve_triangular(adjoint(M), grad_T, /*upper=*/false, /*left=*/false,
                                                /*unitriangular=*/true);
    const Tensor grad_M = -matmul(adjoint(T), over);
    const Tensor grad_S = triu(grad_M * tau.conj().unsqueeze(-2), 1);
    const Tensor S = triu(matmul(adjoint(V), V), 1);
    const Tensor grad_tau =
        over.diagonal(0, -2, -1) + (S.conj() * grad_M).sum(IntArrayRef(-2), false);
    const Tensor all_V = grad_V + matmul(V, grad_S + adjoint(grad_S));
    return {padded(tril(all_V, -1), -1, matrix.size(-1)), grad_tau};
  }
};

}  // namespace

/// Of the first n columns of the product, E - V T W^H with the first n rows of I in E and those of
/// V in W.
std::tuple<Tensor, Tensor> native::_orgqr_backward(const Tensor& grad, const Tensor& self,
                                                   const Tensor& input2) {
  if (self.numel() == 0 || input2.numel() == 0) return {};
  const Reflections r(self, input2);
  const Tensor W = r.V.narrow(-2, 0, self.size(-1));
  const Tensor grad_W = -matmul(adjoint(grad), matmul(r.V, r.T));
  const Tensor grad_V = -matmul(matmul(grad, W), adjoint(r.T)) + padded(grad_W, -2, self.size(-2));
  return r.backward(grad_V, -matmul(adjoint(r.V), matmul(grad, W)));
}

/// Of Q C, C Q, Q^H C or C Q^H. The gradient of Q is a product left right^H of thin matrices.
std::tuple<Tensor, Tensor, Tensor> native::_ormqr_backward(const Tensor& grad, const Tensor& self,
                                                           const Tensor& input2,
                                                           const Tensor& input3, bool left,
                                                           bool transpose,
                                                           std::array<bool, 3> grad_input_mask) {
  Tensor grad_self, grad_tau, grad_other;
  if (grad_input_mask[2]) grad_other = ormqr(self, input2, grad, left, !transpose);
  if ((grad_input_mask[0] || grad_input_mask[1]) && self.numel() > 0) {
    const Reflections r(self, input2);
    const Tensor a = left ? grad : adjoint(input3), b = left ? input3 : adjoint(grad);
    const Tensor &first = transpose ? b : a, &second = transpose ? a : b;
    const Tensor of_first = matmul(adjoint(first), r.V), of_second = matmul(adjoint(second), r.V);
    const Tensor grad_V =
        -matmul(matmul(first, of_second), adjoint(r.T)) - matmul(matmul(second, of_first), r.T);
    std::tie(grad_self, grad_tau) = r.backward(grad_V, -matmul(adjoint(of_first), of_second));
  }
  return {grad_self, grad_tau, grad_other};
}

}  // namespace tenon

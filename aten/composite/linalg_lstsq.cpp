#include "tenon/native/_linalg_lstsq_backward.h"
#include "tenon/ops/add.h"
#include "tenon/ops/adjoint.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/linalg_pinv.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum_to_size.h"
#include "tenon/ops/zeros_like.h"

namespace tenon {

/// Of X = A^+ B and of the residuals |A X - B|^2, in which A X - B is orthogonal to what A can
/// give.
std::tuple<Tensor, Tensor>
native::_linalg_lstsq_backward(const std::optional<Tensor>& grad_solution,
                               const std::optional<Tensor>& grad_residuals, const Tensor& self,
                               const Tensor& b, const Tensor& solution,
                               std::array<bool, 2> grad_input_mask) {
  // Vectors have one dimension less, also in a batch.
  const bool vector = solution.dim() < self.dim() || b.dim() == 1;
  const auto columns = [vector](const Tensor& t) { return vector ? t.unsqueeze(-1) : t; };
  const Tensor B = columns(b), X = columns(solution);
  Tensor grad_A, grad_B;
  if (grad_solution && grad_solution->defined()) {
    const Tensor grad = columns(*grad_solution), A = adjoint(self);
    const Tensor inverse = tenon::linalg_pinv(self, std::optional<Tensor>(), std::nullopt);
    const Tensor h = matmul(adjoint(inverse), grad);
    if (grad_input_mask[0]) {
      grad_A = matmul(B - matmul(self, X), adjoint(matmul(inverse, h))) - matmul(h, adjoint(X)) +
               matmul(matmul(adjoint(inverse), X), adjoint(grad - matmul(A, h)));
    }
    if (grad_input_mask[1]) grad_B = h;
  }
  if (grad_residuals && grad_residuals->defined() && grad_residuals->numel() > 0) {
    const Tensor off = (matmul(self, X) - B) * (grad_residuals->unsqueeze(-2) * 2);
    const auto plus = [](const Tensor& a, const Tensor& t) { return a.defined() ? a + t : t; };
    if (grad_input_mask[0]) grad_A = plus(grad_A, matmul(off, adjoint(X)));
    if (grad_input_mask[1]) grad_B = plus(grad_B, -off);
  }
  const auto fit = [](const Tensor& grad, const Tensor& like) {
    return grad.defined() ? grad.sum_to_size(like.sizes()) : grad;
  };
  grad_B = fit(grad_B, B);
  return {fit(grad_A, self), vector && grad_B.defined() ? grad_B.squeeze(-1) : grad_B};
}

}  // namespace tenon

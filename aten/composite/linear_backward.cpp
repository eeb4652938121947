#include "tenon/native/linear_backward.h"

#include "tenon/native/_linear_double_backward.h"
#include "tenon/ops/add.h"
#include "tenon/ops/conj.h"
#include "tenon/ops/linear.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mm.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/t.h"

namespace tenon {
namespace {

int64_t last_size(const Tensor& t) { return t.dim() == 0 ? 1 : t.size(-1); }

/// All dimensions but the last as one; a weight without outputs is a single row.
Tensor rows_of(const Tensor& t, int64_t columns) {
  if (t.dim() == 2 && last_size(t) == columns) return t;
  const IntArrayRef leading = t.dim() == 0 ? t.sizes() : t.sizes().slice(0, t.sizes().size() - 1);
  return reshape(t, {columns == 0 ? numel_of(leading) : t.numel() / columns, columns});
}

Tensor defined_or_empty(const std::optional<Tensor>& t) { return t ? *t : Tensor(); }

Tensor sum_of(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : add(a, b);
}

}  // namespace

/// grad_input = grad_output @ conj(weight), grad_weight = grad_output^T @ conj(input), grad_bias =
/// the sum of grad_output over all but its last dimension.
std::tuple<Tensor, Tensor, Tensor> native::linear_backward(const Tensor& self,
                                                           const Tensor& grad_output,
                                                           const Tensor& weight,
                                                           std::array<bool, 3> output_mask) {
  const int64_t outputs = weight.dim() == 2 ? weight.size(0) : 1;
  const Tensor g = rows_of(grad_output, outputs), w = rows_of(weight, weight.size(-1));
  Tensor grad_input, grad_weight, grad_bias;
  if (output_mask[0]) {
    grad_input = tenon::mm(g, tenon::conj(w));
    if (self.dim() != 2) grad_input = reshape(grad_input, self.sizes());
  }
  if (output_mask[1]) {
    grad_weight = tenon::mm(t(g), tenon::conj(rows_of(self, self.size(-1))));
    if (weight.dim() != 2) grad_weight = reshape(grad_weight, weight.sizes());
  }
  if (output_mask[2]) grad_bias = sum(g, 0);
  return {grad_input, grad_weight, grad_bias};
}

/// The derivative of linear_backward: with L = <ggI, gO conj(W)> + <ggW, gO^T conj(x)> +
/// <ggb, sum gO>, its gradients of x, gO and W.
std::tuple<Tensor, Tensor, Tensor>
native::_linear_double_backward(const std::optional<Tensor>& ggI, const std::optional<Tensor>& ggW,
                                const std::optional<Tensor>& ggb, const Tensor& self,
                                const Tensor& grad_output, const Tensor& weight,
                                std::array<bool, 3> output_mask) {
  const Tensor v = defined_or_empty(ggI), u = defined_or_empty(ggW), b = defined_or_empty(ggb);
  const int64_t outputs = weight.dim() == 2 ? weight.size(0) : 1;
  const Tensor g = rows_of(grad_output, outputs);
  Tensor grad_self, grad_grad_output, grad_weight;
  if (output_mask[0] && u.defined()) {
    grad_self = reshape(tenon::mm(g, tenon::conj(rows_of(u, weight.size(-1)))), self.sizes());
  }
  if (output_mask[1]) {
    if (v.defined()) grad_grad_output = tenon::linear(v, weight);
    if (u.defined()) grad_grad_output = sum_of(grad_grad_output, tenon::linear(self, u));
    if (b.defined()) {
      grad_grad_output = grad_grad_output.defined() ? add(grad_grad_output, b) : b;
      if (grad_grad_output.sizes() != grad_output.sizes()) {
        grad_grad_output = grad_grad_output.expand(grad_output.sizes());
      }
    }
  }
  if (output_mask[2] && v.defined()) {
    grad_weight = reshape(tenon::mm(t(g), tenon::conj(rows_of(v, self.size(-1)))), weight.sizes());
  }
  return {grad_self, grad_grad_output, grad_weight};
}

}  // namespace tenon

#include "tenon/native/nll_loss2d_forward.h"

#include "aten/meta/nll_loss.h"
#include "tenon/native/nll_loss2d_backward.h"
#include "tenon/ops/movedim.h"
#include "tenon/ops/nll_loss_backward.h"
#include "tenon/ops/nll_loss_forward.h"
#include "tenon/ops/reshape.h"

/// nll_loss of self [N, C, H, W] with target [N, H, W]. On backends without kernels of their own
/// the classes become the last dimension.
namespace tenon {
namespace {

Tensor pixels_first(const Tensor& self) {
  return reshape(movedim(self, 1, -1), {self.size(0) * self.size(2) * self.size(3), self.size(1)});
}

}  // namespace

std::tuple<Tensor, Tensor> native::nll_loss2d_forward(const Tensor& self, const Tensor& target,
                                                      const std::optional<Tensor>& weight,
                                                      int64_t reduction, int64_t ignore_index) {
  meta::check_nll_loss2d("nll_loss2d", self, target,
                         weight && weight->defined() ? &*weight : nullptr, reduction);
  const auto [loss, total] = tenon::nll_loss_forward(
      pixels_first(self), reshape(target, {target.numel()}), weight, reduction, ignore_index);
  return {reduction == 0 ? reshape(loss, target.sizes()) : loss, total};
}

Tensor native::nll_loss2d_backward(const Tensor& grad_output, const Tensor& self,
                                   const Tensor& target, const std::optional<Tensor>& weight,
                                   int64_t reduction, int64_t ignore_index,
                                   const Tensor& total_weight) {
  meta::check_nll_loss2d("nll_loss2d_backward", self, target,
                         weight && weight->defined() ? &*weight : nullptr, reduction);
  meta::check_nll_loss_grad("nll_loss2d_backward", reduction == 0, grad_output, target,
                            total_weight);
  const Tensor grad = tenon::nll_loss_backward(
      reduction == 0 ? reshape(grad_output, {grad_output.numel()}) : grad_output,
      pixels_first(self), reshape(target, {target.numel()}), weight, reduction, ignore_index,
      total_weight);
  return movedim(reshape(grad, {self.size(0), self.size(2), self.size(3), self.size(1)}), -1, 1)
      .contiguous();
}

}  // namespace tenon

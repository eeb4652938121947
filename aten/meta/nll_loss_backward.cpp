#include "tenon/native/nll_loss_backward.h"

#include "aten/meta/nll_loss.h"

namespace tenon {

/// The shape of `self`.
TensorSpec native::nll_loss_backward_meta(const Tensor& grad_output, const Tensor& self,
                                          const Tensor& target, const std::optional<Tensor>& weight,
                                          int64_t reduction, int64_t, const Tensor& total_weight) {
  meta::check_nll_loss("nll_loss_backward", self, target,
                       weight && weight->defined() ? &*weight : nullptr);
  const bool each = reduction == 0 && self.dim() == 2;
  TENON_CHECK(each ? grad_output.sizes() == target.sizes() : grad_output.numel() == 1,
              "[nll_loss_backward] Expected a ",
              each ? "tensor of the target's shape" : "single element",
              " as grad_output, but got: ", grad_output.sizes());
  TENON_CHECK(total_weight.numel() == 1,
              "[nll_loss_backward] expected total_weight to be a single element tensor, ",
              "got: ", total_weight.sizes());
  return TensorSpec(self.sizes(), self);
}

}  // namespace tenon

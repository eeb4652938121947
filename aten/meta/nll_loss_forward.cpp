#include "tenon/native/nll_loss_forward.h"

#include "aten/meta/checks.h"
#include "aten/meta/nll_loss.h"

namespace tenon {

void meta::check_nll_loss(const char* op, const TensorBase& self, const TensorBase& target,
                          const TensorBase* weight) {
  TENON_CHECK(self.dim() == 1 || self.dim() == 2, "[", op,
              "] input tensor should be 1D or 2D, got shape ", self.sizes());
  TENON_CHECK(target.dim() <= 1, "[", op,
              "] 0D or 1D target tensor expected, multi-target not supported, got ", "shape ",
              target.sizes());
  TENON_CHECK(
      self.dim() == 1 ? target.numel() == 1 : target.dim() == 1 && self.size(0) == target.size(0),
      "[", op, "] size mismatch (got input: ", self.sizes(), ", target: ", target.sizes(), ")");
  TENON_CHECK(target.scalar_type() == kLong || target.scalar_type() == kByte, "[", op,
              "] expected scalar type Long but found ", target.scalar_type());
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(self.scalar_type()), "[", op,
                              "] is not implemented for ", self.scalar_type());
  check_same_device(op, "input", self, "target", target);
  if (!weight) return;
  check_same_device(op, "input", self, "weight", *weight);
  TENON_CHECK(weight->dim() == 1 && weight->numel() == self.size(-1), "[", op,
              "] weight tensor should be defined either for all ", self.size(-1),
              " classes or no classes but got weight tensor of shape: ", weight->sizes());
  TENON_CHECK(weight->scalar_type() == self.scalar_type(), "[", op, "] expected scalar type ",
              self.scalar_type(), " but found ", weight->scalar_type());
}

/// self [N, C] or [C], target [N] or []; output [N] without reduction, else [], and total_weight
/// [].
std::array<TensorSpec, 2> native::nll_loss_forward_meta(const Tensor& self, const Tensor& target,
                                                        const std::optional<Tensor>& weight,
                                                        int64_t reduction, int64_t) {
  meta::check_nll_loss("nll_loss", self, target, weight && weight->defined() ? &*weight : nullptr);
  TENON_CHECK(reduction >= 0 && reduction <= 2,
              "[nll_loss] reduction must be 0 (none), 1 (mean) or 2 (sum), got ", reduction);
  const bool each = reduction == 0 && self.dim() == 2;
  return {TensorSpec(each ? IntArrayRef(target.sizes()) : IntArrayRef(), self),
          TensorSpec(IntArrayRef(), self)};
}

}  // namespace tenon

#include "tenon/native/multilabel_margin_loss_forward.h"

#include "aten/meta/checks.h"
#include "tenon/native/multilabel_margin_loss_backward.h"

namespace tenon {
namespace {

void check(const char* op, const Tensor& self, const Tensor& target) {
  TENON_CHECK_NOT_IMPLEMENTED(self.scalar_type() == kFloat || self.scalar_type() == kDouble, "[",
                              op, "] is not implemented for '", self.scalar_type(), "'");
  TENON_CHECK(self.dim() <= 2 && (self.dim() == 0 || self.size(-1) > 0), "[", op,
              "] Expected non-empty vector or matrix with optional 0-dim batch size, but got: ",
              self.sizes());
  const int64_t classes = self.dim() == 0 ? 1 : self.size(-1);
  TENON_CHECK(self.dim() == 2 ? target.sizes() == self.sizes()
                              : target.dim() <= 1 && target.numel() == classes,
              "[", op, "] inconsistent target size: ", target.sizes(),
              " for input of size: ", self.sizes());
  TENON_CHECK(target.scalar_type() == kLong, "[", op, "] expected scalar type Long but found ",
              target.scalar_type());
  meta::check_same_device(op, "self", self, "target", target);
  if (target.device().type() != DeviceType::CPU) return;
  const Tensor labels = target.contiguous();
  for (int64_t i = 0; i < labels.numel(); ++i) {
    const int64_t label = labels.const_data_ptr<int64_t>()[i];
    TENON_CHECK(label >= -1 && label < classes, "[", op, "] argument #2 'target' is out of range, ",
                "got ", label, " for ", classes, " classes");
  }
}

}  // namespace

/// self [N, C], [C] or []; target of that shape has the classes of each row, up to a -1.
std::array<TensorSpec, 2> native::multilabel_margin_loss_forward_meta(const Tensor& self,
                                                                      const Tensor& target,
                                                                      int64_t reduction) {
  check("multilabel_margin_loss", self, target);
  const bool each = reduction == 0 && self.dim() == 2;
  return {TensorSpec(each ? DimVector{self.size(0)} : DimVector(), self),
          TensorSpec(target.sizes(), self)};
}

TensorSpec native::multilabel_margin_loss_backward_meta(const Tensor& grad_output,
                                                        const Tensor& self, const Tensor& target,
                                                        int64_t reduction,
                                                        const Tensor& is_target) {
  constexpr const char* kOp = "multilabel_margin_loss_backward";
  check(kOp, self, target);
  meta::check_same_device(kOp, "self", self, "grad_output", grad_output);
  const bool each = reduction == 0 && self.dim() == 2;
  TENON_CHECK(each ? grad_output.dim() == 1 && grad_output.size(0) == self.size(0)
                   : grad_output.numel() == 1,
              "[", kOp, "] Expected a gradient of the loss's shape, got ", grad_output.sizes());
  TENON_CHECK(is_target.sizes() == target.sizes(), "[", kOp,
              "] inconsistent is_target size: ", is_target.sizes(),
              " for target of size: ", target.sizes());
  meta::check_same(kOp, "self", self, "is_target", is_target);
  return TensorSpec(self.sizes(), self);
}

}  // namespace tenon

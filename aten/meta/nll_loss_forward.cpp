#include "tenon/native/nll_loss_forward.h"

#include "aten/meta/checks.h"
#include "aten/meta/nll_loss.h"

namespace tenon {
namespace {

void check_types(const char* op, const TensorBase& self, const TensorBase& target,
                 const TensorBase* weight, int64_t classes) {
  TENON_CHECK(target.scalar_type() == kLong || target.scalar_type() == kByte, "[", op,
              "] expected scalar type Long but found ", target.scalar_type());
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(self.scalar_type()), "[", op,
                              "] is not implemented for ", self.scalar_type());
  meta::check_same_device(op, "input", self, "target", target);
  if (!weight) return;
  meta::check_same_device(op, "input", self, "weight", *weight);
  TENON_CHECK(weight->dim() == 1 && weight->numel() == classes, "[", op,
              "] weight tensor should be defined either for all ", classes,
              " classes or no classes but got weight tensor of shape: ", weight->sizes());
  TENON_CHECK(weight->scalar_type() == self.scalar_type(), "[", op, "] expected scalar type ",
              self.scalar_type(), " but found ", weight->scalar_type());
}

/// Of planes, classes are no bytes.
void check_long(const char* op, const TensorBase& target) {
  TENON_CHECK(target.scalar_type() == kLong, "[", op, "] expected scalar type Long but found ",
              target.scalar_type());
}

void check_reduction(const char* op, int64_t reduction) {
  TENON_CHECK(reduction >= 0 && reduction <= 2, "[", op,
              "] reduction must be 0 (none), 1 (mean) or 2 (sum), got ", reduction);
}

}  // namespace

void meta::check_nll_loss(const char* op, const TensorBase& self, const TensorBase& target,
                          const TensorBase* weight) {
  TENON_CHECK(self.dim() == 1 || self.dim() == 2, "[", op,
              "] input tensor should be 1D or 2D, got shape ", self.sizes());
  TENON_CHECK(target.dim() <= 1, "[", op,
              "] 0D or 1D target tensor expected, multi-target not supported, got ", "shape ",
              target.sizes());
  if (self.dim() == 2) target.size(0);  // IndexError of none, as PyTorch's
  TENON_CHECK_VALUE(
      self.dim() != 1 || target.dim() == 0 || target.numel() == 1, "[", op,
      "] For 1D input, 1D target must have size 1, but got target size: ", target.numel());
  TENON_CHECK(
      self.dim() == 1 ? target.numel() == 1 : target.dim() == 1 && self.size(0) == target.size(0),
      "[", op, "] size mismatch (got input: ", self.sizes(), ", target: ", target.sizes(), ")");
  check_types(op, self, target, weight, self.size(-1));
}

void meta::check_nll_loss_nd(const TensorBase& self, const TensorBase& target,
                             const TensorBase* weight) {
  const int64_t dims = self.dim();
  TENON_CHECK_VALUE(dims >= 1, "[nll_loss] Expected 1 or more dimensions (got ", dims, ")");
  TENON_CHECK_VALUE(dims == 1 || (target.dim() >= 1 && self.size(0) == target.size(0)),
                    "[nll_loss] Expected input batch_size (", self.size(0),
                    ") to match target batch_size (", target.dim() == 0 ? 0 : target.size(0), ").");
  if (dims <= 2) return check_nll_loss("nll_loss", self, target, weight);
  DimVector wanted{self.size(0)};
  for (int64_t d = 2; d < dims; ++d) wanted.push_back(self.size(d));
  TENON_CHECK(target.sizes() == IntArrayRef(wanted), "[nll_loss] Expected target size ", wanted,
              ", got ", target.sizes());
  check_long("nll_loss", target);
  check_types("nll_loss", self, target, weight, self.size(1));
}

void meta::check_nll_loss2d(const char* op, const TensorBase& self, const TensorBase& target,
                            const TensorBase* weight, int64_t reduction) {
  TENON_CHECK(target.dim() == 3, "[", op,
              "] only batches of spatial targets supported (3D tensors) but got targets of "
              "dimension: ",
              target.dim());
  TENON_CHECK(self.dim() == 4, "[", op,
              "] only batches of spatial inputs supported (4D tensors), but got input of "
              "dimension: ",
              self.dim());
  TENON_CHECK(self.size(0) == target.size(0) && self.size(2) == target.size(1) &&
                  self.size(3) == target.size(2),
              "[", op, "] size mismatch (got input: ", self.sizes(), " , target: ", target.sizes());
  check_long(op, target);
  check_types(op, self, target, weight, self.size(1));
  check_reduction(op, reduction);
}

void meta::check_nll_loss_grad(const char* op, bool each, const TensorBase& grad_output,
                               const TensorBase& target, const TensorBase& total_weight) {
  TENON_CHECK(each ? grad_output.sizes() == target.sizes() : grad_output.numel() == 1, "[", op,
              "] Expected a ", each ? "tensor of the target's shape" : "single element",
              " as grad_output, but got: ", grad_output.sizes());
  TENON_CHECK(total_weight.numel() == 1, "[", op,
              "] expected total_weight to be a single element tensor, got: ", total_weight.sizes());
}

/// self [N, C] or [C], target [N] or []; output [N] without reduction, else [], and total_weight
/// [].
std::array<TensorSpec, 2> native::nll_loss_forward_meta(const Tensor& self, const Tensor& target,
                                                        const std::optional<Tensor>& weight,
                                                        int64_t reduction, int64_t) {
  meta::check_nll_loss("nll_loss", self, target, weight && weight->defined() ? &*weight : nullptr);
  check_reduction("nll_loss", reduction);
  const bool each = reduction == 0 && self.dim() == 2;
  return {TensorSpec(each ? IntArrayRef(target.sizes()) : IntArrayRef(), self),
          TensorSpec(IntArrayRef(), self)};
}

}  // namespace tenon

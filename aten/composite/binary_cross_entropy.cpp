#include "tenon/native/binary_cross_entropy.h"

#include "tenon/native/cosine_embedding_loss.h"
#include "tenon/ops/_binary_cross_entropy.h"
#include "tenon/ops/_reduced.h"
#include "tenon/ops/sqrt.h"

namespace tenon {

/// -(t log(p) + (1 - t) log(1 - p)), the logarithms no smaller than -100, times weight.
Tensor native::binary_cross_entropy(const Tensor& self, const Tensor& target,
                                    const std::optional<Tensor>& weight, int64_t reduction) {
  TENON_CHECK(self.sizes() == target.sizes(),
              "[binary_cross_entropy] expected input and target of one shape, got ", self.sizes(),
              " and ", target.sizes());
  // On other devices the elements are not waited for.
  if (self.is_cpu()) {
    const Tensor p = self.detach();
    TENON_CHECK(((p >= 0) * (p <= 1)).all().item().toBool(),
                "[binary_cross_entropy] all elements of input should be between 0 and 1");
  }
  const Tensor loss = _binary_cross_entropy(self, target);
  return _reduced(weight ? loss * *weight : loss, reduction);
}

/// Of pairs of rows: 1 - cos where target is 1, max(cos - margin, 0) where it is -1.
Tensor native::cosine_embedding_loss(const Tensor& input1, const Tensor& input2,
                                     const Tensor& target, double margin, int64_t reduction) {
  TENON_CHECK(target.dim() == 1 || target.dim() == 0,
              "[cosine_embedding_loss] 0D or 1D target tensor expected, multi-target not "
              "supported, got ",
              target.sizes());
  TENON_CHECK(input1.dim() == target.dim() + 1 && input2.dim() == target.dim() + 1,
              "[cosine_embedding_loss] ", target.dim(), "D target tensor expects ",
              target.dim() + 1, "D input tensors, but found inputs with sizes ", input1.sizes(),
              " and ", input2.sizes());
  const int64_t dim = target.dim();
  constexpr double kEps = 1e-12;
  const Tensor squares = ((input1 * input1).sum(dim) + kEps) * ((input2 * input2).sum(dim) + kEps);
  const Tensor cosine = (input1 * input2).sum(dim) / sqrt(squares);
  const Tensor alike = (1 - cosine).masked_fill(target != 1, 0);
  const Tensor apart = (cosine - margin).clamp_min(0).masked_fill(target != -1, 0);
  return _reduced(alike + apart, reduction);
}

}  // namespace tenon

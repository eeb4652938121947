#include "tenon/native/cosine_embedding_loss.h"

#include "tenon/ops/_reduced.h"
#include "tenon/ops/sqrt.h"

namespace tenon {

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

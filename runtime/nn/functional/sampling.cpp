#include "runtime/nn/functional/helpers.h"
#include "tenon/ops/empty_like.h"
#include "tenon/ops/exponential.h"
#include "tenon/ops/max.h"
#include "tenon/ops/zeros_like.h"

namespace tenon::nn::functional::detail {

Tensor gumbel_softmax(const Tensor& logits, double tau, bool hard, int64_t dim) {
  const Tensor noise = -tenon::empty_like(logits).exponential_().log();
  const Tensor soft = ((logits + noise) / tau).softmax(dim);
  if (!hard) return soft;
  const Tensor chosen =
      tenon::zeros_like(logits).scatter_(dim, std::get<1>(soft.max(dim, true)), 1.0);
  return chosen - soft.detach() + soft;
}

}  // namespace tenon::nn::functional::detail

#include "runtime/nn/functional.h"
#include "tenon/ops/clamp_min.h"
#include "tenon/ops/linalg_vector_norm.h"
#include "tenon/ops/minimum.h"
#include "tenon/ops/one_hot.h"
#include "tenon/ops/triu_indices.h"

namespace tenon::nn::functional {

Tensor one_hot(const Tensor& tensor, int64_t num_classes) {
  return tenon::one_hot(tensor, num_classes);
}

Tensor pdist(const Tensor& input, double p) {
  TENON_CHECK(input.dim() == 2, "pdist only supports 2D tensors, got: ", input.dim(), "D");
  TENON_CHECK(p >= 0, "pdist only supports non-negative p values, got: ", p);
  const Tensor pairs = tenon::triu_indices(input.size(0), input.size(0), 1,
                                           TensorOptions(kLong).device(input.device()));
  const Tensor rows = input.index_select(0, pairs.select(0, 0)),
               columns = input.index_select(0, pairs.select(0, 1));
  return tenon::linalg_vector_norm(rows - columns, p, {1});
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive,
                                         const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& options) {
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return options.distance_function() ? (*options.distance_function())(a, b)
                                       : pairwise_distance(a, b);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap()) far = tenon::minimum(far, distance(positive, negative));
  const Tensor loss = tenon::clamp_min(near - far + options.margin(), 0);
  if (std::holds_alternative<enumtype::kNone>(options.reduction())) return loss;
  return std::holds_alternative<enumtype::kMean>(options.reduction()) ? loss.mean() : loss.sum();
}

}  // namespace tenon::nn::functional

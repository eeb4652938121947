#pragma once

#include <functional>

#include "runtime/nn/reduction.h"
#include "tenon/nn/functional.h"

/// The computations of modules as functions. Most are declared in modules.yaml; here are those
/// whose arguments that cannot describe.
namespace tenon::nn::functional {

/// Ones at the places of the classes: [...] of numbers to [..., num_classes]; -1: the largest + 1.
TENON_API Tensor one_hot(const Tensor& tensor, int64_t num_classes = -1);
/// The p-norms of the differences of all pairs of rows of [N, M], as a vector.
TENON_API Tensor pdist(const Tensor& input, double p = 2.0);

/// Options of triplet_margin_with_distance_loss.
class TripletMarginWithDistanceLossFuncOptions {
 public:
  using distance_function_t = std::function<Tensor(const Tensor&, const Tensor&)>;
  using reduction_t = LossReduction;
  TENON_ARG(std::optional<distance_function_t>, distance_function) = std::nullopt;
  TENON_ARG(reduction_t, reduction) = kMean;
  TENON_ARG(double, margin) = 1.0;
  TENON_ARG(bool, swap) = false;
};

/// max(d(anchor, positive) - d(anchor, negative) + margin, 0), d the distance function, by default
/// pairwise_distance. swap: the lesser of the distances of the negative example from the others.
TENON_API Tensor triplet_margin_with_distance_loss(
    const Tensor& anchor, const Tensor& positive, const Tensor& negative,
    const TripletMarginWithDistanceLossFuncOptions& options = {});

}  // namespace tenon::nn::functional

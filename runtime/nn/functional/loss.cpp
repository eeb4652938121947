#include "tenon/nn/functional/loss.h"

#include <cmath>
#include <numbers>

#include "aten/core/thread_state.h"
#include "aten/dispatch/warning.h"
#include "runtime/nn/functional/helpers.h"
#include "tenon/ops/binary_cross_entropy.h"
#include "tenon/ops/binary_cross_entropy_with_logits.h"
#include "tenon/ops/kl_div.h"
#include "tenon/ops/log_sigmoid.h"
#include "tenon/ops/margin_ranking_loss.h"
#include "tenon/ops/triplet_margin_loss.h"

namespace tenon::nn::functional::detail {
namespace {

Tensor reduced(const Tensor& loss, const LossReduction& reduction) {
  if (std::holds_alternative<enumtype::kNone>(reduction)) return loss;
  return std::holds_alternative<enumtype::kMean>(reduction) ? loss.mean() : loss.sum();
}

}  // namespace

Tensor kl_div(const Tensor& input, const Tensor& target, bool log_target,
              const KLDivFuncOptions::reduction_t& reduction) {
  const auto divergence = [&](int64_t number) {
    return tenon::kl_div(input, target, number, log_target);
  };
  if (std::holds_alternative<enumtype::kNone>(reduction)) return divergence(Reduction::None);
  if (std::holds_alternative<enumtype::kSum>(reduction)) return divergence(Reduction::Sum);
  if (std::holds_alternative<enumtype::kMean>(reduction)) {
    TENON_WARN("reduction: 'mean' divides the total loss by both the batch size and the support ",
               "size. 'batchmean' divides only by the batch size, and aligns with the KL div math ",
               "definition. 'mean' will be changed to behave the same as 'batchmean' in the next ",
               "major release.");
    return divergence(Reduction::Mean);
  }
  const Tensor sum = divergence(Reduction::Sum);
  return input.dim() == 0 ? sum : sum / input.size(0);
}

Tensor binary_cross_entropy(const Tensor& input, const Tensor& target, const Tensor& weight,
                            const BinaryCrossEntropyFuncOptions::reduction_t& reduction) {
  TENON_CHECK_VALUE(target.sizes() == input.sizes(), "Using a target size (", target.sizes(),
                    ") that is different to the input size (", input.sizes(), ") is deprecated. ",
                    "Please ensure they have the same size.");
  return tenon::binary_cross_entropy(input, target, optional_tensor(weight),
                                     reduction_number(reduction));
}

Tensor binary_cross_entropy_with_logits(
    const Tensor& input, const Tensor& target, const Tensor& weight, const Tensor& pos_weight,
    const BinaryCrossEntropyWithLogitsFuncOptions::reduction_t& reduction) {
  TENON_CHECK_VALUE(target.sizes() == input.sizes(), "Target size (", target.sizes(),
                    ") must be the same as input size (", input.sizes(), ")");
  return tenon::binary_cross_entropy_with_logits(input, target, optional_tensor(weight),
                                                 optional_tensor(pos_weight),
                                                 reduction_number(reduction));
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin,
                           const MarginRankingLossFuncOptions::reduction_t& reduction) {
  TENON_CHECK(input1.dim() == input2.dim() && input1.dim() == target.dim(),
              "margin_ranking_loss : All input tensors should have same dimension but got sizes: ",
              "input1: ", input1.sizes(), ", input2: ", input2.sizes(),
              ", target: ", target.sizes());
  return tenon::margin_ranking_loss(input1, input2, target, margin, reduction_number(reduction));
}

Tensor
multilabel_soft_margin_loss(const Tensor& input, const Tensor& target, const Tensor& weight,
                            const MultilabelSoftMarginLossFuncOptions::reduction_t& reduction) {
  Tensor loss = -(target * tenon::log_sigmoid(input) + (1 - target) * tenon::log_sigmoid(-input));
  if (weight.defined()) loss = loss * weight;
  return reduced(loss.mean({-1}), reduction);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap,
                           const TripletMarginLossFuncOptions::reduction_t& reduction) {
  return tenon::triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap,
                                    reduction_number(reduction));
}

Tensor gaussian_nll_loss(const Tensor& input, const Tensor& target, const Tensor& var, bool full,
                         double eps, const GaussianNLLLossFuncOptions::reduction_t& reduction) {
  Tensor variance = var;
  if (var.sizes() != input.sizes()) {
    const bool one_less =
        var.dim() == input.dim() - 1 && input.sizes().slice(0, size_t(var.dim())) == var.sizes();
    if (one_less) variance = var.unsqueeze(-1);
    TENON_CHECK_VALUE(one_less || (var.dim() == input.dim() && var.size(-1) == 1),
                      "var is of incorrect size");
  }
  TENON_CHECK_VALUE(!(variance < 0).any().item<bool>(), "var has negative entry/entries");
  // Its gradient is as if it were not clamped.
  variance = variance.detach().clamp_min(eps) + (variance - variance.detach());
  Tensor loss = 0.5 * (variance.log() + (input - target).square() / variance);
  if (full) loss = loss + 0.5 * std::log(2 * std::numbers::pi);
  return reduced(loss, reduction);
}

}  // namespace tenon::nn::functional::detail

#include "tenon/native/cross_entropy_loss.h"

#include <cstdlib>
#include <string>

#include "aten/common/opmath_type.h"
#include "aten/core/python_object.h"
#include "aten/meta/nll_loss.h"
#include "tenon/ops/_cross_entropy_loss.h"
#include "tenon/ops/add.h"
#include "tenon/ops/div.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/log_softmax.h"
#include "tenon/ops/masked_fill.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ne.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/nll_loss_nd.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sum.h"

namespace tenon {
namespace {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

/// The weights [C] with size 1 in every dimension of `self` but the classes'.
Tensor along_classes(const Tensor& weight, const Tensor& self, int64_t class_dim) {
  DimVector shape(static_cast<size_t>(self.dim()), 1);
  shape[class_dim] = weight.numel();
  return reshape(weight, shape);
}

/// Targets are probabilities: - sum_c weight_c target_c log p_c, its mean over the samples.
Tensor from_probabilities(const Tensor& log_p, Tensor target, const Tensor& weight,
                          int64_t reduction, double label_smoothing, int64_t class_dim) {
  const int64_t classes = log_p.size(class_dim);
  if (label_smoothing > 0) {
    target = add(mul(target, Scalar(1 - label_smoothing)), Scalar(label_smoothing / classes));
  }
  Tensor terms = mul(log_p, target);
  if (weight.defined()) terms = mul(terms, along_classes(weight, log_p, class_dim));
  if (reduction == kNone) return neg(sum(terms, class_dim));
  const Tensor total = neg(sum(terms));
  if (reduction == kSum) return total;
  return div(total, Scalar(static_cast<double>(log_p.numel()) / classes));
}

/// nll_loss_nd, whose targets out of bounds are an error of this operator.
Tensor at_targets(const Tensor& log_p, const Tensor& target, const std::optional<Tensor>& weight,
                  int64_t reduction, int64_t ignore_index) {
  try {
    return nll_loss_nd(log_p, target, weight, reduction, ignore_index);
  } catch (const IndexError& error) {
    const std::string text = error.what();
    throw IndexError("[cross_entropy_loss]" + text.substr(text.find(']') + 1));
  }
}

/// (1 - s) nll + s / C * (- sum_c weight_c log p_c), both averaged alike.
Tensor smoothed(const Tensor& log_p, const Tensor& target,
                const std::optional<Tensor>& class_weight, const Tensor& weight, int64_t reduction,
                int64_t ignore_index, double label_smoothing, int64_t class_dim) {
  const Tensor nll = at_targets(log_p, target, class_weight, reduction, ignore_index);
  const Tensor weighted =
      weight.defined() ? mul(log_p, along_classes(weight, log_p, class_dim)) : log_p;
  const Tensor ignored = eq(target, Scalar(ignore_index));
  Tensor smooth = masked_fill(neg(sum(weighted, class_dim)), ignored, Scalar(0));
  if (reduction == kSum) smooth = sum(smooth);
  if (reduction == kMean) {
    const Tensor kept = ne(target, Scalar(ignore_index));
    Tensor count = sum(kept);
    if (weight.defined()) {
      const Tensor classes = reshape(masked_fill(target, ignored, Scalar(0)), {target.numel()});
      count = sum(mul(index_select(weight, 0, classes), reshape(kept, {target.numel()})));
    }
    smooth = div(sum(smooth), count);
  }
  const double share = label_smoothing / static_cast<double>(log_p.size(class_dim));
  return add(mul(nll, Scalar(1 - label_smoothing)), mul(smooth, Scalar(share)));
}

/// Targets are indices of classes: the loss of each sample and the weight of its class, in one pass
/// that keeps nothing of the input's size, then their sum or weighted mean.
Tensor from_indices(const Tensor& self, const Tensor& target, const Tensor& weight,
                    int64_t reduction, int64_t ignore_index, int64_t class_dim) {
  const auto [loss, kept, largest, exponentials] =
      _cross_entropy_loss(self, target, weight.defined() ? std::optional(weight) : std::nullopt,
                          ignore_index, class_dim);
  if (reduction == kNone) return loss;
  const ScalarType type = to_opmath_type(self.scalar_type());
  const Tensor total = sum(loss, type);
  // Nothing to average gives 0 / 0, NaN, as in PyTorch.
  const Tensor result = reduction == kSum ? total : div(total, sum(kept, type));
  return type == self.scalar_type() ? result : result.to(self.scalar_type());
}

/// Whether the classes of a sample lie apart in memory, among those of other samples. There
/// log_softmax takes many samples at once, and a loss that picks one element of each does not.
bool is_of_planes(const Tensor& self) {
  return self.is_cpu() && self.dim() > 2 && self.stride(1) != 1;
}

/// Whether that pass compares targets with `ignore_index` exactly, has room for a row's sum of
/// exponentials, which is at most its length, and has all gradients.
bool is_one_pass(const Tensor& self, const Tensor& weight, int64_t ignore_index,
                 int64_t class_dim) {
  constexpr int64_t kLargestHalf = 65504;
  const bool exact = std::abs(ignore_index) <= int64_t{1} << 24 || self.scalar_type() == kDouble;
  const bool fits = self.scalar_type() != kHalf || self.size(class_dim) <= kLargestHalf;
  // Python sees the operators that PyTorch's loss is made of.
  const bool taken = python_takes(self.key_set()) || python_takes(weight.key_set());
  return exact && fits && !taken && !(weight.defined() && weight.requires_grad());
}

}  // namespace

/// log_softmax over the classes, then the negative log likelihood: self [C], [N, C] or [N, C, d1,
/// ...]; target holds class indices without the class dimension, or probabilities of self's shape.
Tensor native::cross_entropy_loss(const Tensor& self, const Tensor& target,
                                  const std::optional<Tensor>& weight, int64_t reduction,
                                  int64_t ignore_index, double label_smoothing) {
  TENON_CHECK(self.dim() >= 1,
              "[cross_entropy_loss] needs an input of at least 1 dimension, got shape ",
              self.sizes());
  TENON_CHECK(
      label_smoothing >= 0 && label_smoothing <= 1,
      "[cross_entropy_loss] label_smoothing must be between 0.0 and 1.0. Got: ", label_smoothing);
  const int64_t class_dim = self.dim() == 1 ? 0 : 1;
  const Tensor class_weight = weight && weight->defined() ? *weight : Tensor();
  TENON_CHECK(!class_weight.defined() ||
                  (class_weight.dim() == 1 && class_weight.numel() == self.size(class_dim)),
              "[cross_entropy_loss] weight tensor should be defined either for all ",
              self.size(class_dim),
              " classes or no classes but got weight tensor of shape: ", class_weight.sizes());
  const bool probabilities = self.sizes() == target.sizes();
  if (probabilities) {
    TENON_CHECK(is_floating_point(target.scalar_type()),
                "[cross_entropy_loss] Expected floating point type for ",
                "target with class probabilities, got ", target.scalar_type());
    TENON_CHECK(ignore_index < 0,
                "[cross_entropy_loss] ignore_index is not supported for floating point target");
  }
  if (!probabilities && label_smoothing == 0 && !is_of_planes(self) &&
      is_one_pass(self, class_weight, ignore_index, class_dim)) {
    meta::check_nll_loss_nd(self, target, class_weight.defined() ? &class_weight : nullptr);
    TENON_CHECK(reduction >= kNone && reduction <= kSum,
                "[cross_entropy_loss] reduction must be 0 (none), 1 (mean) or 2 (sum), got ",
                reduction);
    return from_indices(self, target, class_weight, reduction, ignore_index, class_dim);
  }
  const Tensor log_p = log_softmax(self, class_dim);
  if (probabilities) {
    return from_probabilities(log_p, target, class_weight, reduction, label_smoothing, class_dim);
  }
  if (label_smoothing == 0) return at_targets(log_p, target, weight, reduction, ignore_index);
  return smoothed(log_p, target, weight, class_weight, reduction, ignore_index, label_smoothing,
                  class_dim);
}

}  // namespace tenon

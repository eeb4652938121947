#pragma once

#include <vector>

#include "runtime/nn/arg.h"
#include "runtime/nn/cloneable.h"
#include "runtime/nn/modules/module_list.h"
#include "tenon/nn/modules/linear.h"

namespace tenon::nn {

/// Classes are numbered by decreasing frequency. Those below the first cutoff have scores of their
/// own, the others are in clusters between the cutoffs. The projection of cluster i has in_features
/// / div_value^(i + 1) features.
struct AdaptiveLogSoftmaxWithLossOptions {
  AdaptiveLogSoftmaxWithLossOptions(int64_t in_features, int64_t n_classes,
                                    std::vector<int64_t> cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}
  TENON_ARG(int64_t, in_features);
  TENON_ARG(int64_t, n_classes);
  TENON_ARG(std::vector<int64_t>, cutoffs);
  TENON_ARG(double, div_value) = 4;
  TENON_ARG(bool, head_bias) = false;
};

/// The log probability of each target, and the mean of their negatives.
struct ASMoutput {
  Tensor output;
  double loss;
};

/// An approximation of softmax for many classes of which few are frequent: Grave et al. (2017),
/// Efficient softmax approximation for GPUs. Modules head and tail.{i}.{0, 1}.
class TENON_API AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(int64_t in_features, int64_t n_classes,
                                 std::vector<int64_t> cutoffs)
      : AdaptiveLogSoftmaxWithLossImpl(
            AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs))) {}
  /// ValueError unless the cutoffs increase and are in [1, n_classes - 1].
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options);

  /// Input [N, in_features] and targets [N] of class numbers, or both without N.
  ASMoutput forward(const Tensor& input, const Tensor& target);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& out) const override;

  /// Log probabilities of all classes, [N, n_classes].
  Tensor log_prob(const Tensor& input);
  /// The most probable class of each row, [N].
  Tensor predict(const Tensor& input);
  /// log_prob() of an input whose scores of the head are known.
  Tensor _get_full_log_prob(const Tensor& input, const Tensor& head_output);

  AdaptiveLogSoftmaxWithLossOptions options;
  /// Those of the options, and n_classes.
  std::vector<int64_t> cutoffs;
  int64_t shortlist_size = 0;
  int64_t n_clusters = 0;
  int64_t head_size = 0;
  Linear head{nullptr};
  ModuleList tail{nullptr};

 private:
  /// Log probabilities of the classes of a cluster within it.
  Tensor cluster_log_prob(size_t cluster, const Tensor& input);
};
TENON_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace tenon::nn

#include "runtime/nn/modules/adaptive.h"

#include <algorithm>
#include <cmath>

#include "aten/generated_support/tensor_index.h"
#include "runtime/nn/modules/sequential.h"
#include "tenon/ops/add.h"
#include "tenon/ops/amax.h"
#include "tenon/ops/amin.h"
#include "tenon/ops/argmax.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/gather.h"
#include "tenon/ops/ge.h"
#include "tenon/ops/index_copy.h"
#include "tenon/ops/index_select.h"
#include "tenon/ops/item.h"
#include "tenon/ops/log_softmax.h"
#include "tenon/ops/logical_and.h"
#include "tenon/ops/lt.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/neg.h"
#include "tenon/ops/nonzero.h"
#include "tenon/ops/select.h"
#include "tenon/ops/slice.h"
#include "tenon/ops/squeeze.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/unsqueeze.h"
#include "tenon/ops/zeros.h"

namespace tenon::nn {

AdaptiveLogSoftmaxWithLossImpl::AdaptiveLogSoftmaxWithLossImpl(
    AdaptiveLogSoftmaxWithLossOptions options)
    : options(std::move(options)) {
  reset();
}

void AdaptiveLogSoftmaxWithLossImpl::reset() {
  cutoffs = options.cutoffs();
  cutoffs.push_back(options.n_classes());
  const bool increase = std::adjacent_find(cutoffs.begin(), cutoffs.end(),
                                           std::greater_equal<int64_t>()) == cutoffs.end();
  TENON_CHECK_VALUE(
      !options.cutoffs().empty() && cutoffs[0] > 0 && increase,
      "[AdaptiveLogSoftmaxWithLoss] cutoffs should be a sequence of unique, positive integers "
      "sorted in an increasing order, where each value is between 1 and n_classes-1, got ",
      IntArrayRef(options.cutoffs()), " and n_classes ", options.n_classes());
  shortlist_size = cutoffs[0];
  n_clusters = static_cast<int64_t>(cutoffs.size()) - 1;
  head_size = shortlist_size + n_clusters;

  const int64_t features = options.in_features();
  head =
      register_module("head", Linear(LinearOptions(features, head_size).bias(options.head_bias())));
  tail = register_module("tail", ModuleList());
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const auto divisor = static_cast<int64_t>(std::pow(options.div_value(), i + 1));
    TENON_CHECK_VALUE(divisor > 0,
                      "[AdaptiveLogSoftmaxWithLoss] div_value must be at least 1, got ",
                      options.div_value());
    const int64_t hidden = features / divisor;
    tail->push_back(
        Sequential(Linear(LinearOptions(features, hidden).bias(false)),
                   Linear(LinearOptions(hidden, cutoffs[i + 1] - cutoffs[i]).bias(false))));
  }
}

void AdaptiveLogSoftmaxWithLossImpl::reset_parameters() {
  head->reset_parameters();
  for (const auto& projection : *tail) {
    for (const auto& linear : projection->children()) linear->as<Linear>()->reset_parameters();
  }
}

void AdaptiveLogSoftmaxWithLossImpl::pretty_print(std::ostream& out) const {
  out << "torch::nn::AdaptiveLogSoftmaxWithLoss";
}

Tensor AdaptiveLogSoftmaxWithLossImpl::cluster_log_prob(size_t cluster, const Tensor& input) {
  return log_softmax(tail->at<SequentialImpl>(cluster).forward(input), 1);
}

ASMoutput AdaptiveLogSoftmaxWithLossImpl::forward(const Tensor& input_, const Tensor& target_) {
  const int64_t dim = target_.dim();
  TENON_CHECK(dim <= 1,
              "[AdaptiveLogSoftmaxWithLoss] 0D or 1D target tensor expected, multi-target not "
              "supported, got shape ",
              target_.sizes());
  TENON_CHECK(input_.dim() == dim + 1, "[AdaptiveLogSoftmaxWithLoss] ", dim,
              "D target tensor "
              "expects ",
              dim + 1, "D input tensors, but found inputs with sizes ", input_.sizes(), ".");
  const Tensor input = dim == 1 ? input_ : input_.unsqueeze(0);
  const Tensor target = dim == 1 ? target_ : target_.unsqueeze(0);
  TENON_CHECK(input.size(0) == target.size(0),
              "[AdaptiveLogSoftmaxWithLoss] Input and target should have the same size in the "
              "batch dimension, got ",
              input.size(0), " and ", target.size(0));
  const int64_t batch = target.size(0);
  TENON_CHECK(batch > 0, "[AdaptiveLogSoftmaxWithLoss] expected targets, got none");
  const int64_t least = target.amin().item<int64_t>(), most = target.amax().item<int64_t>();
  TENON_CHECK(0 <= least && most < options.n_classes(),
              "[AdaptiveLogSoftmaxWithLoss] Target values should be in [0, ",
              options.n_classes() - 1, "], but values in range [", least, ", ", most,
              "] were found.");

  // The head has one score for each frequent class and one for each cluster.
  Tensor column = target;
  Tensor output = zeros({batch}, TensorOptions(input.dtype()).device(input.device()));
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const Tensor members = target.ge(cutoffs[i]).logical_and(target.lt(cutoffs[i + 1]));
    const Tensor rows = members.nonzero().squeeze(1);
    if (rows.numel() == 0) continue;
    const Tensor relative = target.index_select(0, rows) - cutoffs[i];
    const Tensor within = cluster_log_prob(i, input.index_select(0, rows));
    output = output.index_copy(0, rows, within.gather(1, relative.unsqueeze(1)).squeeze(1));
    column = column.masked_fill(members, shortlist_size + static_cast<int64_t>(i));
  }
  output = output + log_softmax(head(input), 1).gather(1, column.unsqueeze(1)).squeeze(1);
  const double loss = -output.mean().item<double>();
  return {dim == 1 ? output : output.squeeze(0), loss};
}

Tensor AdaptiveLogSoftmaxWithLossImpl::_get_full_log_prob(const Tensor& input,
                                                          const Tensor& head_output) {
  const Tensor of_head = log_softmax(head_output, 1);
  std::vector<Tensor> parts{of_head.slice(1, 0, shortlist_size)};
  for (size_t i = 0; i + 1 < cutoffs.size(); ++i) {
    const int64_t cluster = shortlist_size + static_cast<int64_t>(i);
    parts.push_back(cluster_log_prob(i, input) + of_head.select(1, cluster).unsqueeze(1));
  }
  return cat(parts, 1);
}

Tensor AdaptiveLogSoftmaxWithLossImpl::log_prob(const Tensor& input) {
  return _get_full_log_prob(input, head(input));
}

Tensor AdaptiveLogSoftmaxWithLossImpl::predict(const Tensor& input) {
  const Tensor head_output = head(input);
  const Tensor best = argmax(head_output, 1);
  // Only rows whose best score is a cluster's need the clusters' scores.
  const Tensor rows = best.ge(shortlist_size).nonzero().squeeze(1);
  if (rows.numel() == 0) return best;
  const Tensor full =
      _get_full_log_prob(input.index_select(0, rows), head_output.index_select(0, rows));
  return best.index_copy(0, rows, argmax(full, 1));
}

}  // namespace tenon::nn

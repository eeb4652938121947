// Losses of classes, example by example, with their own sums and means.

#include "aten/batching/rules/rule.h"
#include "tenon/ops/div.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/flatten.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ne.h"
#include "tenon/ops/new_zeros.h"
#include "tenon/ops/nll_loss2d_backward.h"
#include "tenon/ops/nll_loss2d_forward.h"
#include "tenon/ops/nll_loss_backward.h"
#include "tenon/ops/nll_loss_forward.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/take.h"
#include "tenon/ops/to.h"
#include "tenon/ops/where.h"

namespace tenon::batching {
namespace {

constexpr int64_t kNoReduction = 0, kMeanReduction = 1;

/// The arguments with the rows of all examples as one batch of rows.
struct Rows {
  explicit Rows(const Call& c)
      : call(c), self(c.in_front("self")), target(c.in_front("target")),
        ignored(c.integer("ignore_index")), reduction(c.integer("reduction")) {
    if (const Tensor given = call.tensor("weight"); given.defined()) weight = given;
    sizes = target.sizes();
    if (call.tensor("self").dim() == 1) {  // one row
      target = target.reshape({call.batch()});
      return;
    }
    self = self.flatten(0, 1);
    target = target.flatten(0, 1);
  }

  /// What each row counts in a mean: 0 if its class is ignored.
  Tensor counts() const {
    const Tensor counted = target != ignored;
    if (!weight) return counted.to(self.scalar_type());
    const Tensor classes = where(counted, target, target.new_zeros({})).to(kLong);
    return weight->detach().take(classes) * counted.to(weight->scalar_type());
  }
  /// Of each row, as [batch, rows of an example].
  Tensor by_example(const Tensor& t) const { return t.reshape({call.batch(), -1}); }

  const Call& call;
  Tensor self, target;
  std::optional<Tensor> weight;
  DimVector sizes;  ///< of the losses of all rows
  int64_t ignored = 0, reduction = 0;
};

bool has_batched_weight(const Call& call) {
  const Tensor weight = call.tensor("weight");
  return weight.defined() && call.is_batched(weight);
}

Values forward_rule(const Call& call, bool of_images) {
  if (has_batched_weight(call)) return run_loop(call);
  const Rows rows(call);
  const auto [losses, none] =
      of_images
          ? nll_loss2d_forward(rows.self, rows.target, rows.weight, kNoReduction, rows.ignored)
          : nll_loss_forward(rows.self, rows.target, rows.weight, kNoReduction, rows.ignored);
  if (rows.reduction == kNoReduction)
    return {losses.reshape(rows.sizes), none.detach().new_zeros({call.batch()})};
  const Tensor total = rows.by_example(rows.counts()).sum(IntArrayRef({1}));
  const Tensor sum = rows.by_example(losses).sum(IntArrayRef({1}));
  return {rows.reduction == kMeanReduction ? sum / total : sum, total};
}

Values backward_rule(const Call& call, bool of_images) {
  if (has_batched_weight(call)) return run_loop(call);
  const Rows rows(call);
  Tensor grad = call.in_front("grad_output");
  if (rows.reduction != kNoReduction) {
    grad = grad.reshape({call.batch(), 1});
    if (rows.reduction == kMeanReduction)
      grad = grad / rows.by_example(rows.counts()).sum(IntArrayRef({1}), true);
    grad = grad.expand(rows.by_example(rows.target).sizes());
  }
  grad = grad.reshape(rows.target.sizes());
  const Tensor total = grad.detach().new_zeros({});
  const Tensor result = of_images ? nll_loss2d_backward(grad, rows.self, rows.target, rows.weight,
                                                        kNoReduction, rows.ignored, total)
                                  : nll_loss_backward(grad, rows.self, rows.target, rows.weight,
                                                      kNoReduction, rows.ignored, total);
  return {result.reshape(call.in_front("self").sizes())};
}

Values of_rows(const Call& call) { return forward_rule(call, false); }
Values of_images(const Call& call) { return forward_rule(call, true); }
Values backward_of_rows(const Call& call) { return backward_rule(call, false); }
Values backward_of_images(const Call& call) { return backward_rule(call, true); }

}  // namespace

void add_loss_rules(RuleTable& table) {
  table.insert({
      {"aten::nll_loss_forward", below<of_rows>},
      {"aten::nll_loss_backward", below<backward_of_rows>},
      {"aten::nll_loss2d_forward", below<of_images>},
      {"aten::nll_loss2d_backward", below<backward_of_images>},
  });
}

}  // namespace tenon::batching

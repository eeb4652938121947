#include "runtime/distributed/ddp/sync_batch_norm.h"

#include "autograd/function.h"
#include "tenon/ops/add.h"
#include "tenon/ops/clamp_min.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"
#include "tenon/ops/fill.h"
#include "tenon/ops/item.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/rsqrt.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/to.h"
#include "tenon/ops/view.h"
#include "tenon/ops/zeros.h"

namespace tenon::distributed {
namespace {

using autograd::AutogradContext;
using autograd::variable_list;

/// All dimensions but that of the channels.
DimVector reduced(const Tensor& x) {
  DimVector dims;
  for (int64_t d = 0; d < x.dim(); ++d) {
    if (d != 1) dims.push_back(d);
  }
  return dims;
}

/// [C] as [1, C, 1, ...].
Tensor along(const Tensor& channels, const Tensor& x) {
  DimVector sizes(static_cast<size_t>(x.dim()), 1);
  sizes[1] = channels.numel();
  return channels.view(sizes);
}

ScalarType computed_in(const Tensor& x) { return x.scalar_type() == kDouble ? kDouble : kFloat; }

Tensor sum_of(const Tensor& x) { return x.sum(IntArrayRef(reduced(x)), false, kDouble); }

/// The sum of the ranks' numbers `counts`, of which this rank has given `own`. So that the host
/// does not wait for a GPU to know it, the numbers of GPUs' batches are exchanged by the host once
/// more.
double total_of(const Tensor& counts, double own, const GroupPtr& group) {
  if (counts.is_cpu()) return counts.sum().item<double>();
  const Tensor total = zeros({1}, TensorOptions(kDouble));
  *total.data_ptr<double>() = own;
  all_reduce(total, ReduceOp::SUM, group);
  return *total.data_ptr<double>();
}

/// Double [C], on the input's device.
struct Statistics {
  Tensor mean, variance;  // not corrected
  double count = 0;
};

/// Those of all ranks' batches: means, and sums of squared deviations from each rank's own mean, to
/// which its distance from the joined one is added. That loses nothing where the mean is large.
Statistics joined_statistics(const Tensor& x, const GroupPtr& group) {
  const int64_t channels = x.size(1);
  const double count = channels == 0 ? 0 : static_cast<double>(x.numel() / channels);
  const TensorOptions options = x.options().dtype(kDouble);
  const Tensor own = zeros({2 * channels + 1}, options);
  own.narrow(0, 0, 1).fill_(count);
  if (count > 0) {
    const Tensor rounded = sum_of(x).mul(1 / count).to(x.scalar_type());
    const Tensor deviation = x.sub(along(rounded, x));
    // The mean was rounded to x's dtype: the sum of deviations says by how much.
    const Tensor rest = sum_of(deviation).mul(1 / count);
    own.narrow(0, 1, channels).copy_(rounded.to(kDouble).add(rest));
    own.narrow(0, 1 + channels, channels)
        .copy_(sum_of(deviation.mul(deviation)).sub(rest.mul(rest).mul(count)));
  }
  const Tensor all = zeros({group->size(), 2 * channels + 1}, options);
  all_gather_into_tensor(all, own, group);
  const Tensor counts = all.narrow(1, 0, 1), means = all.narrow(1, 1, channels);
  Statistics joined;
  joined.count = total_of(counts, count, group);
  joined.mean = counts.mul(means).sum(IntArrayRef({0}), false).mul(1 / joined.count);
  const Tensor apart = means.sub(joined.mean);
  joined.variance = all.narrow(1, 1 + channels, channels)
                        .add(counts.mul(apart).mul(apart))
                        .sum(IntArrayRef({0}), false)
                        .mul(1 / joined.count)
                        .clamp_min(0);
  return joined;
}

/// The sum over the ranks, whose derivative is the sum of all ranks' gradients.
struct SumOfRanks : autograd::Function<SumOfRanks> {
  static Tensor forward(AutogradContext* context, const Tensor& x, const GroupPtr& group) {
    context->state = group;
    const Tensor sum = x.clone();
    all_reduce(sum, ReduceOp::SUM, group);
    return sum;
  }
  static variable_list backward(AutogradContext* context, variable_list grads) {
    return {SumOfRanks::apply(grads[0], std::any_cast<const GroupPtr&>(context->state)), Tensor()};
  }
};

struct SyncBatchNormFunction : autograd::Function<SyncBatchNormFunction> {
  struct State {
    GroupPtr group;
    double eps;
    ScalarType bias_dtype;
    double count = 0;
    Statistics statistics = {};
  };

  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight,
                        const Tensor& bias, State* state) {
    const Tensor x = input.to(computed_in(input));
    state->statistics = joined_statistics(x, state->group);
    const Statistics& s = state->statistics;
    TENON_CHECK_VALUE(s.count > 1, "[SyncBatchNorm] Expected more than 1 value per channel when ",
                      "training, got ", s.count, " on all ranks together, input size ",
                      input.sizes(), " on rank ", state->group->rank());
    state->count = s.count;
    const Tensor mean = s.mean.to(x.scalar_type());
    const Tensor invstd = s.variance.add(state->eps).rsqrt().to(x.scalar_type());
    Tensor y = x.sub(along(mean, x)).mul(along(invstd, x));
    if (weight.defined()) y = y.mul(along(weight.to(x.scalar_type()), x));
    if (bias.defined()) y = y.add(along(bias.to(x.scalar_type()), x));
    context->save_for_backward({input, weight, mean, invstd});
    context->state = State{state->group, state->eps, state->bias_dtype, s.count, {}};
    return y.to(input.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list grads) {
    const auto& state = std::any_cast<const State&>(context->state);
    const variable_list saved = context->get_saved_variables();
    const Tensor &input = saved[0], &weight = saved[1], &mean = saved[2], &invstd = saved[3];
    const ScalarType dtype = mean.scalar_type();
    const Tensor x = input.to(dtype), dy = grads[0].to(dtype);
    if (GradMode::is_enabled()) return differentiable(x, weight, dy, state, context);
    // The normalised input is centred / std; sum_dy and sum_dy_xhat are what the mean and the
    // variance pass on.
    const Tensor xhat = x.sub(along(mean, x)).mul(along(invstd, x));
    const Tensor sum_dy = sum_of(dy), sum_dy_xhat = sum_of(dy.mul(xhat));
    Tensor grad_weight, grad_bias, grad_input;
    if (context->needs_input_grad(1))
      grad_weight = sum_dy_xhat.to(weight.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
    if (context->needs_input_grad(2))
      grad_bias = sum_dy.to(state.bias_dtype, /*non_blocking=*/false, /*copy=*/true);
    if (context->needs_input_grad(0)) {
      all_reduce_coalesced({sum_dy, sum_dy_xhat}, ReduceOp::SUM, state.group);
      const Tensor constant = along(sum_dy.mul(1 / state.count).to(dtype), x);
      const Tensor linear = along(sum_dy_xhat.mul(1 / state.count).to(dtype), x);
      Tensor scale = along(invstd, x);
      if (weight.defined()) scale = scale.mul(along(weight.to(dtype), x));
      grad_input = dy.sub(constant).sub(xhat.mul(linear)).mul(scale).to(input.scalar_type());
    }
    return {grad_input, grad_weight, grad_bias, Tensor()};
  }

  /// The same with a graph of its own, for gradients of gradients: the statistics anew, as
  /// functions of all ranks' inputs. Every rank makes the same collectives, whatever it needs.
  static variable_list differentiable(const Tensor& x, const Tensor& weight, const Tensor& dy,
                                      const State& state, AutogradContext* context) {
    const auto over_ranks = [&](const Tensor& t) {
      return along(SumOfRanks::apply(t, state.group).mul(1 / state.count).to(x.scalar_type()), x);
    };
    const Tensor centred = x.sub(over_ranks(sum_of(x)));
    const Tensor invstd = over_ranks(sum_of(centred.mul(centred))).add(state.eps).rsqrt();
    const Tensor xhat = centred.mul(invstd);
    const Tensor sum_dy = sum_of(dy), sum_dy_xhat = sum_of(dy.mul(xhat));
    Tensor grad_input = dy.sub(over_ranks(sum_dy)).sub(xhat.mul(over_ranks(sum_dy_xhat)));
    grad_input = grad_input.mul(invstd);
    if (weight.defined()) grad_input = grad_input.mul(along(weight.to(x.scalar_type()), x));
    return {grad_input.to(context->get_saved_variables()[0].scalar_type()),
            weight.defined() ? sum_dy_xhat.to(weight.scalar_type()) : Tensor(),
            context->needs_input_grad(2) ? sum_dy.to(state.bias_dtype) : Tensor(), Tensor()};
  }
};

}  // namespace

Tensor sync_batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Tensor& running_mean, const Tensor& running_var, double momentum,
                       double eps, const GroupPtr& group) {
  TENON_CHECK_VALUE(input.defined() && input.dim() >= 2,
                    "[SyncBatchNorm] expected at least a 2-dimensional input, got ",
                    input.defined() ? detail::concat(input.sizes()) : "an undefined tensor");
  TENON_CHECK_TYPE(is_floating_point(input.scalar_type()),
                   "[SyncBatchNorm] expected a floating-point input, got ", input.scalar_type());
  for (const Tensor& t : {weight, bias, running_mean, running_var}) {
    TENON_CHECK_VALUE(!t.defined() || (t.dim() == 1 && t.size(0) == input.size(1)),
                      "[SyncBatchNorm] expected weight, bias and running statistics of ",
                      input.size(1), " channels, got shape ",
                      t.defined() ? detail::concat(t.sizes()) : "");
  }
  SyncBatchNormFunction::State state{
      group ? group : default_group(), eps, bias.defined() ? bias.scalar_type() : kFloat, 0, {}};
  const Tensor y = SyncBatchNormFunction::apply(input, weight, bias, &state);
  const NoGradGuard no_grad;
  const Statistics& s = state.statistics;
  const auto move = [&](const Tensor& running, const Tensor& batch, double factor) {
    if (running.defined())
      running.mul_(1 - momentum).add_(batch.mul(factor * momentum).to(running.scalar_type()));
  };
  move(running_mean, s.mean, 1);
  move(running_var, s.variance, s.count / (s.count - 1));
  return y;
}

void convert_sync_batchnorm(nn::Module& module, const GroupPtr& group) {
  const GroupPtr g = group ? group : default_group();
  module.apply([&](nn::Module& one) {
    auto* norm = dynamic_cast<nn::BatchNormHook*>(&one);
    if (!norm) return;
    norm->normalize_batch = [g](const Tensor& input, const Tensor& weight, const Tensor& bias,
                                const Tensor& running_mean, const Tensor& running_var,
                                double momentum, double eps) {
      return sync_batch_norm(input, weight, bias, running_mean, running_var, momentum, eps, g);
    };
  });
}

}  // namespace tenon::distributed

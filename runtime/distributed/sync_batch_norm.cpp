#include "runtime/distributed/sync_batch_norm.h"

#include <cmath>

#include "autograd/function.h"
#include "tenon/ops/add.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/mul.h"
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

struct Statistics {
  std::vector<double> mean, variance;  // not corrected
  double count = 0;
};

/// Those of all ranks' batches: means and sums of squared deviations are joined pair by pair
/// (Chan, Golub, LeVeque 1979), which loses nothing where the mean is large.
Statistics joined_statistics(const Tensor& x, const GroupPtr& group) {
  const int64_t channels = x.size(1);
  const Tensor own = zeros({2 * channels + 1}, TensorOptions(kDouble));
  auto* values = own.data_ptr<double>();
  values[0] = channels == 0 ? 0 : static_cast<double>(x.numel() / channels);
  if (values[0] > 0) {
    const Tensor mean = sum_of(x).mul(1 / values[0]);
    const Tensor deviation = x.sub(along(mean.to(x.scalar_type()), x));
    // The mean was rounded to x's dtype: the sum of deviations says by how much.
    const Tensor rest = sum_of(deviation), squares = sum_of(deviation.mul(deviation));
    for (int64_t c = 0; c < channels; ++c) {
      const double r = rest.data_ptr<double>()[c] / values[0];
      const double rounded = computed_in(x) == kDouble
                                 ? mean.data_ptr<double>()[c]
                                 : static_cast<float>(mean.data_ptr<double>()[c]);
      values[1 + c] = rounded + r;
      values[1 + channels + c] = squares.data_ptr<double>()[c] - values[0] * r * r;
    }
  }
  const Tensor all = zeros({group->size(), 2 * channels + 1}, TensorOptions(kDouble));
  all_gather_into_tensor(all, own, group);
  Statistics joined;
  joined.mean.resize(static_cast<size_t>(channels));
  joined.variance.resize(static_cast<size_t>(channels));
  const auto* rank = all.data_ptr<double>();
  for (int r = 0; r < group->size(); ++r, rank += 2 * channels + 1) {
    if (rank[0] == 0) continue;
    const double total = joined.count + rank[0];
    for (int64_t c = 0; c < channels; ++c) {
      const double apart = rank[1 + c] - joined.mean[c];
      joined.mean[c] += apart * rank[0] / total;
      joined.variance[c] += rank[1 + channels + c] + apart * apart * joined.count * rank[0] / total;
    }
    joined.count = total;
  }
  for (double& v : joined.variance) v = joined.count > 0 ? std::max(v, 0.0) / joined.count : 0;
  return joined;
}

Tensor to_tensor(const std::vector<double>& values, ScalarType dtype) {
  const Tensor t = zeros({static_cast<int64_t>(values.size())}, TensorOptions(kDouble));
  std::copy(values.begin(), values.end(), t.data_ptr<double>());
  return t.to(dtype);
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
    std::vector<double> inverse;
    for (const double v : s.variance) inverse.push_back(1 / std::sqrt(v + state->eps));
    const Tensor mean = to_tensor(s.mean, x.scalar_type());
    const Tensor invstd = to_tensor(inverse, x.scalar_type());
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
      grad_weight = sum_dy_xhat.to(weight.scalar_type(), false, true);
    if (context->needs_input_grad(2)) grad_bias = sum_dy.to(state.bias_dtype, false, true);
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
  const auto move = [&](const Tensor& running, std::vector<double> values, double factor) {
    if (!running.defined()) return;
    for (double& v : values) v *= factor * momentum;
    running.mul_(1 - momentum).add_(to_tensor(values, running.scalar_type()));
  };
  move(running_mean, s.mean, 1);
  move(running_var, s.variance, s.count / (s.count - 1));
  return y;
}

void convert_sync_batchnorm(nn::Module& module, const GroupPtr& group) {
  const GroupPtr g = group ? group : default_group();
  module.apply([&](nn::Module& one) {
    auto* norm = one.as<nn::BatchNormImpl>();
    if (!norm) return;
    norm->normalize_batch = [g](const nn::BatchNormImpl& self, const Tensor& input,
                                double momentum) {
      return sync_batch_norm(input, self.weight, self.bias, self.running_mean, self.running_var,
                             momentum, self.options.eps(), g);
    };
  });
}

}  // namespace tenon::distributed

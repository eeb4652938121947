// Layers of networks: the batch joins the one that they have, or their channels and groups.

#include "aten/batching/rules/rule.h"
#include "aten/core/error.h"
#include "tenon/ops/_rms_norm.h"
#include "tenon/ops/convolution.h"
#include "tenon/ops/convolution_backward.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/flatten.h"
#include "tenon/ops/movedim.h"
#include "tenon/ops/native_batch_norm.h"
#include "tenon/ops/native_batch_norm_backward.h"
#include "tenon/ops/native_group_norm.h"
#include "tenon/ops/native_layer_norm.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/unflatten.h"
#include "tenon/ops/unsqueeze.h"

namespace tenon::batching {
namespace {

/// An operator on [N..., k dimensions]: the batch joins N, or takes its place.
template <int k>
Values folded(const Call& call) {
  Values arguments = call.arguments();
  int64_t lead = -1;  // dimensions of N
  DimVector before;
  for (Value& argument : arguments) {
    if (!argument.is_tensor()) continue;
    const Tensor t(argument.to_tensor());
    const int64_t own = t.dim() - k;
    if (own < 0 || (lead >= 0 && own != lead)) return run_loop(call);
    lead = own;
    const Tensor front = call.in_front(t);
    if (before.empty()) {
      for (int64_t d = 0; d <= lead; ++d) before.push_back(front.size(d));
    }
    argument = lead == 0 ? front : front.flatten(0, lead);
  }
  Values results = call.call(std::move(arguments));
  for (Value& result : results) {
    if (result.is_tensor() && lead > 0) result = Tensor(result.to_tensor()).unflatten(0, before);
  }
  return results;
}

/// The batch joins the first dimension of every tensor.
Values joined_first(const Call& call) {
  Values arguments = call.arguments();
  int64_t first = 0;
  for (Value& argument : arguments) {
    if (!argument.is_tensor()) continue;
    const Tensor front = call.in_front(Tensor(argument.to_tensor()));
    if (first == 0) first = front.size(1);
    argument = front.flatten(0, 1);
  }
  Values results = call.call(std::move(arguments));
  for (Value& result : results) {
    if (result.is_tensor()) result = Tensor(result.to_tensor()).unflatten(0, {call.batch(), first});
  }
  return results;
}

/// Of one image the random samples have a batch of one.
Values fractional_pool_rule(const Call& call) {
  const int64_t dims = static_cast<int64_t>(call["kernel_size"].to_ints().size());
  if (call.tensor("self").dim() > dims + 1) return joined_first(call);
  Values arguments = call.arguments();
  arguments[0] = call.in_front("self");
  const size_t samples = call.index("random_samples");
  arguments[samples] = call.in_front("random_samples").flatten(0, 1);
  return call.call(std::move(arguments));
}

/// The same of attention, whose mask has as many dimensions as it needs, or fewer.
Values attention_rule(const Call& call) {
  const Tensor mask = call.tensor("attn_mask");
  if (!mask.defined()) return joined_first(call);
  const Tensor query = call.tensor("query");
  Tensor all = call.is_batched(mask) ? call.aligned(mask, 4) : mask;
  while (all.dim() < 5) all = all.unsqueeze(0);
  const Value full = Value(
      make_batched(all.expand({call.batch(), query.size(0), all.size(2), all.size(3), all.size(4)}),
                   call.level()));
  Values arguments = call.arguments();
  arguments[call.index("attn_mask")] = full;
  return joined_first(Call(call.op(), call.schema(), arguments.data(), call.level()));
}

std::optional<Tensor> optional(const Tensor& t) {
  return t.defined() ? std::optional(t) : std::nullopt;
}

/// [B, N, C, ...] as [N, B * C, ...], and back.
Tensor into_channels(const Tensor& t) { return t.movedim(0, 1).flatten(1, 2); }
Tensor out_of_channels(const Tensor& t, int64_t batch) {
  return t.unflatten(1, {batch, t.size(1) / batch}).movedim(1, 0);
}
/// [B, C, ...] as [B * C, ...].
Tensor joined(const Tensor& t) { return t.flatten(0, 1); }
Tensor apart(const Tensor& t, int64_t batch) { return t.unflatten(0, {batch, t.size(0) / batch}); }

/// A value per channel of [N, C, ...] with `rank` dimensions, perhaps batched.
Tensor per_channel(const Call& call, const Tensor& t, int64_t rank) {
  DimVector sizes(static_cast<size_t>(rank), 1);
  sizes[1] = t.size(0);
  if (!call.is_batched(t)) return t.reshape(sizes);
  sizes.insert(sizes.begin(), call.batch());
  return value_of(t).reshape(sizes);
}

Values convolution_rule(const Call& call) {
  const Tensor input = call.tensor("input"), weight = call.tensor("weight");
  const Tensor bias = call.tensor("bias");
  const int64_t batch = call.batch(), groups = call.integer("groups");
  const bool plain_bias = !bias.defined() || !call.is_batched(bias);
  const auto run = [&](const Tensor& in, const Tensor& w, const Tensor& b, int64_t g) {
    return convolution(in, w, optional(b), call["stride"].to_ints(), call["padding"].to_ints(),
                       call["dilation"].to_ints(), call["transposed"].to_bool(),
                       call["output_padding"].to_ints(), g);
  };
  Tensor result;
  if (!call.is_batched(weight)) {
    const Tensor in = call.in_front(input);
    result = apart(run(joined(in), weight, plain_bias ? bias : Tensor(), groups), batch);
    return {plain_bias ? result : result + per_channel(call, bias, input.dim())};
  }
  result = out_of_channels(
      run(into_channels(call.in_front(input)), joined(value_of(weight)), Tensor(), batch * groups),
      batch);
  return {bias.defined() ? result + per_channel(call, bias, input.dim()) : result};
}

/// Each example is a group: so are the gradients of its own weights.
Values convolution_backward_rule(const Call& call) {
  const int64_t batch = call.batch(), groups = call.integer("groups");
  const Value::Bools wanted = call["output_mask"].to_bools();
  const Tensor grad = call.in_front("grad_output");
  Values results(3);
  if (wanted[0] || wanted[1]) {
    const auto [of_input, of_weight, none] = convolution_backward(
        into_channels(grad), into_channels(call.in_front("input")), joined(call.in_front("weight")),
        std::nullopt, call["stride"].to_ints(), call["padding"].to_ints(),
        call["dilation"].to_ints(), call["transposed"].to_bool(), call["output_padding"].to_ints(),
        batch * groups, {wanted[0], wanted[1], false});
    if (wanted[0]) results[0] = out_of_channels(of_input, batch);
    if (wanted[1]) results[1] = apart(of_weight, batch);
  }
  if (wanted[2]) {
    std::vector<int64_t> others;
    for (int64_t d = 1; d < grad.dim(); ++d) {
      if (d != 2) others.push_back(d);
    }
    results[2] = grad.sum(others);
  }
  return results;
}

Tensor channels_in_front(const Call& call, std::string_view name) {
  const Tensor t = call.in_front(name);
  return t.defined() ? joined(t) : t;
}

void check_statistics(const Call& call, bool training) {
  for (const char* name : {"running_mean", "running_var"}) {
    const Tensor t = call.tensor(name);
    TENON_CHECK(!training || !t.defined() || call.is_batched(t), "vmap: [", call.name(),
                "] in training changes '", name,
                "' in place, which is not batched: the examples would overwrite one another. Batch "
                "it, use eval(), or a norm without running statistics");
  }
}

Values batch_norm_rule(const Call& call) {
  const bool training = call["training"].to_bool();
  check_statistics(call, training);
  const auto [output, mean, invstd] = native_batch_norm(
      into_channels(call.in_front("input")), optional(channels_in_front(call, "weight")),
      optional(channels_in_front(call, "bias")), optional(channels_in_front(call, "running_mean")),
      optional(channels_in_front(call, "running_var")), training, call["momentum"].to_double(),
      call["eps"].to_double());
  const int64_t batch = call.batch();
  return {out_of_channels(output, batch),
          mean.numel() ? apart(mean, batch) : mean.reshape({batch, 0}),
          invstd.numel() ? apart(invstd, batch) : invstd.reshape({batch, 0})};
}

Values batch_norm_backward_rule(const Call& call) {
  const Value::Bools mask = call["output_mask"].to_bools();
  const auto saved = [&](std::string_view name) -> std::optional<Tensor> {
    const Tensor t = call.in_front(name);
    if (!t.defined()) return std::nullopt;
    return t.flatten();
  };
  const auto [input, weight, bias] = native_batch_norm_backward(
      into_channels(call.in_front("grad_out")), into_channels(call.in_front("input")),
      optional(channels_in_front(call, "weight")),
      optional(channels_in_front(call, "running_mean")),
      optional(channels_in_front(call, "running_var")), saved("save_mean"), saved("save_invstd"),
      call["train"].to_bool(), call["eps"].to_double(), {mask[0], mask[1], mask[2]});
  const int64_t batch = call.batch();
  return {input.defined() ? Value(out_of_channels(input, batch)) : Value(),
          weight.defined() ? Value(apart(weight, batch)) : Value(),
          bias.defined() ? Value(apart(bias, batch)) : Value()};
}

Values group_norm_rule(const Call& call) {
  const Tensor input = call.tensor("input");
  const int64_t batch = call.batch();
  const auto [output, mean, rstd] = native_group_norm(
      joined(call.in_front("input")), std::nullopt, std::nullopt, batch * call.integer("N"),
      call.integer("C"), call.integer("HxW"), call.integer("group"), call["eps"].to_double());
  Tensor result = apart(output, batch);
  for (const char* name : {"weight", "bias"}) {
    const Tensor t = call.tensor(name);
    if (!t.defined()) continue;
    const Tensor of_channel = per_channel(call, t, input.dim());
    result = std::string_view(name) == "weight" ? result * of_channel : result + of_channel;
  }
  return {result, apart(mean, batch), apart(rstd, batch)};
}

/// The batched weights and biases of rows apply to what is normalised without them.
Values layer_norm_rule(const Call& call) {
  const int64_t rank = call.tensor("input").dim();
  const auto [output, mean, rstd] =
      native_layer_norm(call.in_front("input"), call["normalized_shape"].to_ints(), std::nullopt,
                        std::nullopt, call["eps"].to_double());
  Tensor result = output;
  if (const Tensor weight = call.tensor("weight"); weight.defined())
    result = result * call.aligned(weight, rank);
  if (const Tensor bias = call.tensor("bias"); bias.defined())
    result = result + call.aligned(bias, rank);
  return {result, mean, rstd};
}

Values rms_norm_rule(const Call& call) {
  Values arguments = call.arguments();
  const Tensor input = call.tensor("input"), weight = call.tensor("weight");
  arguments[call.index("input")] = call.in_front(input);
  arguments[call.index("weight")] = Value();
  Values results = call.call(std::move(arguments));
  if (weight.defined())
    results[0] = Tensor(results[0].to_tensor()) * call.aligned(weight, input.dim());
  return results;
}

/// Along one dimension, by weights that are the same for all examples.
Values resample_rule(const Call& call) {
  for (size_t i = 1; i < call.count(); ++i) {
    if (call.at(i).is_tensor() && call.is_batched(call.at(i).to_tensor())) return run_loop(call);
  }
  Values arguments = call.arguments();
  arguments[0] = call.in_front("self");
  arguments[1] = call.dim("dim", call.tensor("self").dim());
  return call.call(std::move(arguments));
}

}  // namespace

void add_layer_rules(RuleTable& table) {
  for (const char* name :
       {"max_pool2d_with_indices", "max_pool2d_with_indices_backward", "_max_pool2d_gather",
        "avg_pool2d", "avg_pool2d_backward", "_adaptive_avg_pool2d",
        "_adaptive_avg_pool2d_backward", "adaptive_max_pool2d", "_pixel_shuffle_channels_last"}) {
    table.emplace(std::string("aten::") + name, below<folded<3>>);
  }
  table.insert({
      {"aten::convolution", below<convolution_rule>},
      {"aten::convolution_backward", below<convolution_backward_rule>},
      {"aten::native_batch_norm", below<batch_norm_rule>},
      {"aten::native_batch_norm_backward", below<batch_norm_backward_rule>},
      {"aten::native_group_norm", below<group_norm_rule>},
      {"aten::native_layer_norm", below<layer_norm_rule>},
      {"aten::_rms_norm", below<rms_norm_rule>},
      {"aten::_resample", below<resample_rule>},
      {"aten::fractional_max_pool2d", below<fractional_pool_rule>},
      {"aten::fractional_max_pool3d", below<fractional_pool_rule>},
      {"aten::max_unpool2d", below<folded<3>>},
      {"aten::max_unpool3d", below<folded<4>>},
      {"aten::_grid_sample", below<joined_first>},
      {"aten::_grid_sample_backward", below<joined_first>},
      {"aten::_scaled_dot_product_flash_attention_for_cpu", below<attention_rule>},
      {"aten::_scaled_dot_product_flash_attention_for_cpu_backward", below<attention_rule>},
  });
}

}  // namespace tenon::batching

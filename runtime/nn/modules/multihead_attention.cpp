#include "runtime/nn/modules/multihead_attention.h"

#include <cmath>
#include <limits>
#include <vector>

#include "runtime/nn/functional.h"
#include "runtime/nn/init.h"
#include "tenon/ops/add.h"
#include "tenon/ops/cat.h"
#include "tenon/ops/chunk.h"
#include "tenon/ops/constant_pad_nd.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/expand.h"
#include "tenon/ops/masked_fill.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/permute.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/scaled_dot_product_attention.h"
#include "tenon/ops/softmax.h"
#include "tenon/ops/to.h"
#include "tenon/ops/transpose.h"
#include "tenon/ops/zeros.h"

namespace tenon::nn {
namespace functional {
namespace {

using Options = MultiheadAttentionForwardFuncOptions;

constexpr const char* kName = "[multi_head_attention_forward] ";

void check(const Tensor& query, const Tensor& key, const Tensor& value, const Options& o) {
  TENON_CHECK(query.dim() == 3 && key.dim() == 3 && value.dim() == 3, kName,
              "query, key and value must have 3 dimensions, got shapes ", query.sizes(), ", ",
              key.sizes(), " and ", value.sizes());
  TENON_CHECK(query.size(2) == o.embed_dim_to_check(), kName, "expected ", o.embed_dim_to_check(),
              " features of the query, got shape ", query.sizes());
  TENON_CHECK(query.size(2) % o.num_heads() == 0, "embed_dim must be divisible by num_heads, got ",
              query.size(2), " and ", o.num_heads());
  TENON_CHECK(key.size(0) == value.size(0) && key.size(1) == value.size(1) &&
                  key.size(1) == query.size(1),
              kName,
              "key and value must have the same length and all the same batch size, got "
              "shapes ",
              query.sizes(), ", ", key.sizes(), " and ", value.sizes());
  TENON_CHECK(o.bias_k().defined() == o.bias_v().defined(), kName,
              "bias_k and bias_v must both be given or neither");
  TENON_CHECK(!o.bias_k().defined() || !o.static_k().defined(),
              "bias cannot be added to static key.");
  TENON_CHECK(!o.bias_v().defined() || !o.static_v().defined(),
              "bias cannot be added to static value.");
}

/// Weights of query, key and value, then their biases.
std::pair<std::vector<Tensor>, std::vector<Tensor>> projections(const Options& o) {
  std::vector<Tensor> weights{o.q_proj_weight(), o.k_proj_weight(), o.v_proj_weight()};
  if (!o.use_separate_proj_weight()) weights = chunk(o.in_proj_weight(), 3);
  std::vector<Tensor> biases(3);
  if (o.in_proj_bias().defined()) biases = chunk(o.in_proj_bias(), 3);
  return {weights, biases};
}

/// What is added to the scores: 0 or minus infinity for a Bool mask.
Tensor added(const Tensor& mask, ScalarType dtype) {
  if (mask.dtype() != kBool) return mask.to(dtype);
  return zeros(mask.sizes(), TensorOptions(dtype).device(mask.device()))
      .masked_fill(mask, -std::numeric_limits<double>::infinity());
}

/// Both masks in one that broadcasts to [N, heads, L, S]; undefined if there is none. The last
/// `extra` keys are not masked.
Tensor one_mask(const Tensor& q, int64_t keys, int64_t extra, const Options& o) {
  const int64_t batch = q.size(0), heads = q.size(1), length = q.size(2);
  Tensor mask;
  if (const Tensor& given = o.attn_mask(); given.defined()) {
    const bool each = given.dim() == 3;
    const std::vector<int64_t> expected =
        each ? std::vector<int64_t>{batch * heads, length, keys} : std::vector{length, keys};
    TENON_CHECK(given.sizes() == IntArrayRef(expected), kName, "expected attn_mask of shape ",
                IntArrayRef(expected), ", got ", given.sizes());
    mask = added(given, q.dtype());
    if (each) mask = mask.reshape({batch, heads, length, keys});
  }
  if (Tensor padding = o.key_padding_mask(); padding.defined()) {
    TENON_CHECK(padding.sizes() == IntArrayRef({batch, keys}), kName,
                "expected key_padding_mask of shape ", IntArrayRef({batch, keys}), ", got ",
                padding.sizes());
    if (padding.dtype() == kByte) padding = padding.to(kBool);
    padding = added(padding, q.dtype()).reshape({batch, 1, 1, keys});
    mask = mask.defined() ? mask + padding : padding;
  }
  return mask.defined() && extra > 0 ? constant_pad_nd(mask, {0, extra}) : mask;
}

/// [L, N, embed_dim] to [N, heads, L, embed_dim / heads].
Tensor split_heads(const Tensor& x, int64_t heads) {
  return x.reshape({x.size(0), x.size(1), heads, x.size(2) / heads}).permute({1, 2, 0, 3});
}

}  // namespace

std::tuple<Tensor, Tensor> multi_head_attention_forward(const Tensor& query, const Tensor& key,
                                                        const Tensor& value, const Options& o) {
  check(query, key, value, o);
  const int64_t length = query.size(0), batch = query.size(1), features = query.size(2);
  const int64_t heads = o.num_heads(), head_dim = features / heads;
  const auto [weights, biases] = projections(o);

  const Tensor q = split_heads(linear(query, weights[0], biases[0]), heads);
  const auto project = [&](const Tensor& x, size_t i, const Tensor& bias, const Tensor& fixed) {
    Tensor y;
    if (fixed.defined()) {
      TENON_CHECK(fixed.dim() == 3 && fixed.size(0) == batch * heads && fixed.size(2) == head_dim,
                  kName, "expected static keys and values of shape [", batch * heads, ", S, ",
                  head_dim, "], got ", fixed.sizes());
      y = fixed.reshape({batch, heads, fixed.size(1), head_dim});
    } else {
      y = linear(x, weights[i], biases[i]);
      if (bias.defined()) y = cat({y, bias.expand({1, batch, features})}, 0);
      y = split_heads(y, heads);
    }
    if (o.add_zero_attn())
      y = cat({y, zeros({batch, heads, 1, head_dim}, TensorOptions(y.dtype()).device(y.device()))},
              2);
    return y;
  };
  const Tensor k = project(key, 1, o.bias_k(), o.static_k());
  const Tensor v = project(value, 2, o.bias_v(), o.static_v());

  const int64_t extra = (o.bias_k().defined() ? 1 : 0) + (o.add_zero_attn() ? 1 : 0);
  const Tensor mask = one_mask(q, k.size(2) - extra, extra, o);
  Tensor attended, shown;
  if (o.need_weights()) {
    Tensor scores = matmul(q * (1 / std::sqrt(static_cast<double>(head_dim))), k.transpose(-2, -1));
    if (mask.defined()) scores = scores + mask;
    shown = dropout(tenon::softmax(scores, -1),
                    DropoutFuncOptions().p(o.dropout_p()).training(o.training()));
    attended = matmul(shown, v);
    if (o.average_attn_weights()) shown = shown.mean(1);
  } else {
    const double dropout_p = o.training() ? o.dropout_p() : 0;
    attended = scaled_dot_product_attention(
        q, k, v, mask.defined() ? std::optional<Tensor>(mask) : std::nullopt, dropout_p);
  }
  attended = attended.permute({2, 0, 1, 3}).reshape({length, batch, features});
  return {linear(attended, o.out_proj_weight(), o.out_proj_bias()), shown};
}

}  // namespace functional

MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options)
    : Module("torch::nn::MultiheadAttention"), options(options) {
  reset();
}

void MultiheadAttentionImpl::reset() {
  const int64_t features = options.embed_dim();
  TENON_CHECK_VALUE(features > 0 && options.num_heads() > 0,
                    "[MultiheadAttention] embed_dim and num_heads must be greater than 0, got ",
                    features, " and ", options.num_heads());
  head_dim = features / options.num_heads();
  TENON_CHECK_VALUE(head_dim * options.num_heads() == features,
                    "[MultiheadAttention] embed_dim must be divisible by num_heads, got ", features,
                    " and ", options.num_heads());
  _qkv_same_embed_dim = options.kdim() == features && options.vdim() == features;
  const auto add = [this](const char* name, bool present, IntArrayRef sizes) {
    return register_parameter(name, present ? empty(sizes, TensorOptions()) : Tensor(), present);
  };
  in_proj_weight = add("in_proj_weight", _qkv_same_embed_dim, {3 * features, features});
  q_proj_weight = add("q_proj_weight", !_qkv_same_embed_dim, {features, features});
  k_proj_weight = add("k_proj_weight", !_qkv_same_embed_dim, {features, options.kdim()});
  v_proj_weight = add("v_proj_weight", !_qkv_same_embed_dim, {features, options.vdim()});
  in_proj_bias = add("in_proj_bias", options.bias(), {3 * features});
  out_proj =
      register_module("out_proj", Linear(LinearOptions(features, features).bias(options.bias())));
  bias_k = bias_v = Tensor();
  if (options.add_bias_kv()) {
    bias_k = add("bias_k", true, {1, 1, features});
    bias_v = add("bias_v", true, {1, 1, features});
  }
  _reset_parameters();
}

void MultiheadAttentionImpl::_reset_parameters() {
  for (const Tensor& weight : {in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight}) {
    if (weight.defined()) init::xavier_uniform_(weight);
  }
  if (in_proj_bias.defined()) {
    init::zeros_(in_proj_bias);
    init::zeros_(out_proj->bias);
  }
  for (const Tensor& bias : {bias_k, bias_v}) {
    if (bias.defined()) init::xavier_normal_(bias);
  }
}

std::tuple<Tensor, Tensor>
MultiheadAttentionImpl::forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                const Tensor& key_padding_mask, bool need_weights,
                                const Tensor& attn_mask, bool average_attn_weights) {
  return functional::multi_head_attention_forward(
      query, key, value,
      functional::MultiheadAttentionForwardFuncOptions(
          options.embed_dim(), options.num_heads(), in_proj_weight, in_proj_bias, bias_k, bias_v,
          options.add_zero_attn(), options.dropout(), out_proj->weight, out_proj->bias)
          .training(is_training())
          .key_padding_mask(key_padding_mask)
          .need_weights(need_weights)
          .attn_mask(attn_mask)
          .use_separate_proj_weight(!_qkv_same_embed_dim)
          .q_proj_weight(q_proj_weight)
          .k_proj_weight(k_proj_weight)
          .v_proj_weight(v_proj_weight)
          .average_attn_weights(average_attn_weights));
}

}  // namespace tenon::nn

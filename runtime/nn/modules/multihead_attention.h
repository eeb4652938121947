#pragma once

#include <tuple>

#include "runtime/nn/arg.h"
#include "runtime/nn/cloneable.h"
#include "tenon/nn/modules/linear.h"

namespace tenon::nn {

/// embed_dim features in num_heads parts. `kdim` and `vdim` are the features of key and value,
/// embed_dim by default. `add_bias_kv` adds a learned key and value to each sequence,
/// `add_zero_attn` ones of zeros.
struct MultiheadAttentionOptions {
  MultiheadAttentionOptions(int64_t embed_dim, int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}
  TENON_ARG(int64_t, embed_dim);
  TENON_ARG(int64_t, num_heads);
  TENON_ARG(double, dropout) = 0;
  TENON_ARG(bool, bias) = true;
  TENON_ARG(bool, add_bias_kv) = false;
  TENON_ARG(bool, add_zero_attn) = false;
  TENON_ARG(int64_t, kdim);
  TENON_ARG(int64_t, vdim);
};

namespace functional {

/// The parameters and options of a MultiheadAttention. static_k and static_v [N * num_heads, S,
/// embed_dim / num_heads], if given, replace the projections of key and value.
struct MultiheadAttentionForwardFuncOptions {
  MultiheadAttentionForwardFuncOptions(int64_t embed_dim_to_check, int64_t num_heads,
                                       Tensor in_proj_weight, Tensor in_proj_bias, Tensor bias_k,
                                       Tensor bias_v, bool add_zero_attn, double dropout_p,
                                       Tensor out_proj_weight, Tensor out_proj_bias)
      : embed_dim_to_check_(embed_dim_to_check), num_heads_(num_heads),
        in_proj_weight_(std::move(in_proj_weight)), in_proj_bias_(std::move(in_proj_bias)),
        bias_k_(std::move(bias_k)), bias_v_(std::move(bias_v)), add_zero_attn_(add_zero_attn),
        dropout_p_(dropout_p), out_proj_weight_(std::move(out_proj_weight)),
        out_proj_bias_(std::move(out_proj_bias)) {}
  TENON_ARG(int64_t, embed_dim_to_check);
  TENON_ARG(int64_t, num_heads);
  TENON_ARG(Tensor, in_proj_weight);
  TENON_ARG(Tensor, in_proj_bias);
  TENON_ARG(Tensor, bias_k);
  TENON_ARG(Tensor, bias_v);
  TENON_ARG(bool, add_zero_attn);
  TENON_ARG(double, dropout_p);
  TENON_ARG(Tensor, out_proj_weight);
  TENON_ARG(Tensor, out_proj_bias);
  TENON_ARG(bool, training) = true;
  TENON_ARG(Tensor, key_padding_mask) = {};
  TENON_ARG(bool, need_weights) = true;
  TENON_ARG(Tensor, attn_mask) = {};
  TENON_ARG(bool, use_separate_proj_weight) = false;
  TENON_ARG(Tensor, q_proj_weight) = {};
  TENON_ARG(Tensor, k_proj_weight) = {};
  TENON_ARG(Tensor, v_proj_weight) = {};
  TENON_ARG(Tensor, static_k) = {};
  TENON_ARG(Tensor, static_v) = {};
  TENON_ARG(bool, average_attn_weights) = true;
};

/// MultiheadAttention's forward().
TENON_API std::tuple<Tensor, Tensor>
multi_head_attention_forward(const Tensor& query, const Tensor& key, const Tensor& value,
                             const MultiheadAttentionForwardFuncOptions& options);

}  // namespace functional

/// Attention: Vaswani et al. (2017). Parameters in_proj_weight [3 * embed_dim, embed_dim], or
/// q_proj_weight, k_proj_weight and v_proj_weight if kdim or vdim differ from embed_dim; with
/// `bias` in_proj_bias [3 * embed_dim]; with `add_bias_kv` bias_k and bias_v [1, 1, embed_dim].
class TENON_API MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(int64_t embed_dim, int64_t num_heads)
      : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
  /// ValueError unless num_heads divides embed_dim.
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options);

  /// query [L, N, embed_dim], key [S, N, kdim] and value [S, N, vdim] to the result [L, N,
  /// embed_dim] and the weights, [N, L, S] if averaged over the heads, otherwise [N, num_heads, L,
  /// S], undefined without `need_weights`. Keys of a Bool mask that are true are left out; masks of
  /// numbers are added to the scores. key_padding_mask is [N, S], attn_mask [L, S] or [N *
  /// num_heads, L, S]. A query that may see no key gives NaN with need_weights, and otherwise 0
  /// before the output projection.
  std::tuple<Tensor, Tensor> forward(const Tensor& query, const Tensor& key, const Tensor& value,
                                     const Tensor& key_padding_mask = {}, bool need_weights = true,
                                     const Tensor& attn_mask = {},
                                     bool average_attn_weights = true);
  void reset() override;
  void _reset_parameters();

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = true;
  Tensor in_proj_weight;
  Tensor in_proj_bias;
  Tensor bias_k;
  Tensor bias_v;
  Linear out_proj{nullptr};
  Tensor q_proj_weight;
  Tensor k_proj_weight;
  Tensor v_proj_weight;
  int64_t head_dim = 0;

 protected:
  TENON_FORWARD_DEFAULTS({3, AnyValue(Tensor())}, {4, AnyValue(true)}, {5, AnyValue(Tensor())},
                         {6, AnyValue(true)})
};
TENON_MODULE(MultiheadAttention);

}  // namespace tenon::nn

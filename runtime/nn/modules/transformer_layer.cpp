#include "runtime/nn/modules/transformer_layer.h"

#include "runtime/nn/init.h"
#include "tenon/ops/add.h"
#include "tenon/ops/gelu.h"
#include "tenon/ops/relu.h"

namespace tenon::nn {
namespace {

Tensor activate(const activation_t& activation, const Tensor& input) {
  if (std::holds_alternative<enumtype::kReLU>(activation)) return relu(input);
  if (std::holds_alternative<enumtype::kGELU>(activation)) return gelu(input);
  const auto& function = std::get<std::function<Tensor(const Tensor&)>>(activation);
  TENON_CHECK(function, "activation should be kGELU, kReLU, or a callable");
  return function(input);
}

template <class Options>
MultiheadAttention attention_of(const Options& options) {
  return MultiheadAttention(
      MultiheadAttentionOptions(options.d_model(), options.nhead()).dropout(options.dropout()));
}

template <class Options>
LayerNorm norm_of(const Options& options) {
  return LayerNorm(LayerNormOptions({options.d_model()}));
}

void reset_norm(const LayerNorm& norm) {
  init::ones_(norm->weight);
  init::zeros_(norm->bias);
}

}  // namespace

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(
    const TransformerEncoderLayerOptions& options)
    : options(options) {
  reset();
}

void TransformerEncoderLayerImpl::reset() {
  const int64_t features = options.d_model(), hidden = options.dim_feedforward();
  self_attn = register_module("self_attn", attention_of(options));
  linear1 = register_module("linear1", Linear(features, hidden));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(hidden, features));
  norm1 = register_module("norm1", norm_of(options));
  norm2 = register_module("norm2", norm_of(options));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  reset_norm(norm1);
  reset_norm(norm2);
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask,
                                            const Tensor& src_key_padding_mask) {
  const Tensor attended =
      std::get<0>(self_attn(src, src, src, src_key_padding_mask, /*need_weights=*/true, src_mask));
  const Tensor x = norm1(src + dropout1(attended));
  return norm2(x + dropout2(linear2(dropout(activate(options.activation(), linear1(x))))));
}

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(
    const TransformerDecoderLayerOptions& options)
    : options(options) {
  reset();
}

void TransformerDecoderLayerImpl::reset() {
  const int64_t features = options.d_model(), hidden = options.dim_feedforward();
  self_attn = register_module("self_attn", attention_of(options));
  multihead_attn = register_module("multihead_attn", attention_of(options));
  linear1 = register_module("linear1", Linear(features, hidden));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(hidden, features));
  norm1 = register_module("norm1", norm_of(options));
  norm2 = register_module("norm2", norm_of(options));
  norm3 = register_module("norm3", norm_of(options));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
  dropout3 = register_module("dropout3", Dropout(options.dropout()));
}

void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  multihead_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  reset_norm(norm1);
  reset_norm(norm2);
  reset_norm(norm3);
}

Tensor TransformerDecoderLayerImpl::forward(Tensor tgt, const Tensor& memory,
                                            const Tensor& tgt_mask, const Tensor& memory_mask,
                                            const Tensor& tgt_key_padding_mask,
                                            const Tensor& memory_key_padding_mask) {
  const Tensor attended =
      std::get<0>(self_attn(tgt, tgt, tgt, tgt_key_padding_mask, /*need_weights=*/false, tgt_mask));
  const Tensor x = norm1(tgt + dropout1(attended));
  const Tensor remembered = std::get<0>(multihead_attn(x, memory, memory, memory_key_padding_mask,
                                                       /*need_weights=*/false, memory_mask));
  const Tensor y = norm2(x + dropout2(remembered));
  return norm3(y + dropout3(linear2(dropout(activate(options.activation(), linear1(y))))));
}

}  // namespace tenon::nn

#pragma once

#include <functional>
#include <variant>

#include "runtime/nn/arg.h"
#include "runtime/nn/cloneable.h"
#include "runtime/nn/enum.h"
#include "runtime/nn/modules/multihead_attention.h"
#include "tenon/nn/modules/activation.h"
#include "tenon/nn/modules/dropout.h"
#include "tenon/nn/modules/linear.h"
#include "tenon/nn/modules/normalization.h"

namespace tenon::nn {

/// relu, gelu or a function of the user's.
using activation_t =
    std::variant<enumtype::kReLU, enumtype::kGELU, std::function<Tensor(const Tensor&)>>;

struct TransformerEncoderLayerOptions {
  TransformerEncoderLayerOptions(int64_t d_model, int64_t nhead)
      : d_model_(d_model), nhead_(nhead) {}
  TENON_ARG(int64_t, d_model);
  TENON_ARG(int64_t, nhead);
  TENON_ARG(int64_t, dim_feedforward) = 2048;
  TENON_ARG(double, dropout) = 0.1;
  TENON_ARG(activation_t, activation) = kReLU;
};

struct TransformerDecoderLayerOptions {
  TransformerDecoderLayerOptions(int64_t d_model, int64_t nhead)
      : d_model_(d_model), nhead_(nhead) {}
  TENON_ARG(int64_t, d_model);
  TENON_ARG(int64_t, nhead);
  TENON_ARG(int64_t, dim_feedforward) = 2048;
  TENON_ARG(double, dropout) = 0.1;
  TENON_ARG(activation_t, activation) = kReLU;
};

/// Vaswani et al. (2017): x = norm1(src + attention(src)), then norm2(x + linear2(activation(
/// linear1(x)))), with dropout of each summand. Source and result are [S, N, d_model]; masks are
/// MultiheadAttention's.
class TENON_API TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderLayerImpl(int64_t d_model, int64_t nhead)
      : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}
  explicit TransformerEncoderLayerImpl(const TransformerEncoderLayerOptions& options);

  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});
  void reset() override;
  void reset_parameters();

  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn{nullptr};
  Linear linear1{nullptr};
  Dropout dropout{nullptr};
  Linear linear2{nullptr};
  LayerNorm norm1{nullptr};
  LayerNorm norm2{nullptr};
  Dropout dropout1{nullptr};
  Dropout dropout2{nullptr};

 protected:
  TENON_FORWARD_DEFAULTS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
TENON_MODULE(TransformerEncoderLayer);

/// As the encoder's layer, and between its two parts attention from the target [T, N, d_model] to
/// `memory` [S, N, d_model], what the encoder gave.
class TENON_API TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderLayerImpl(int64_t d_model, int64_t nhead)
      : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead)) {}
  explicit TransformerDecoderLayerImpl(const TransformerDecoderLayerOptions& options);

  Tensor forward(Tensor tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});
  void reset() override;
  void reset_parameters();

  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn{nullptr};
  Dropout dropout1{nullptr};
  LayerNorm norm1{nullptr};
  MultiheadAttention multihead_attn{nullptr};
  Dropout dropout2{nullptr};
  LayerNorm norm2{nullptr};
  Linear linear1{nullptr};
  Dropout dropout{nullptr};
  Linear linear2{nullptr};
  Dropout dropout3{nullptr};
  LayerNorm norm3{nullptr};

 protected:
  TENON_FORWARD_DEFAULTS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                         {5, AnyValue(Tensor())})
};
TENON_MODULE(TransformerDecoderLayer);

}  // namespace tenon::nn

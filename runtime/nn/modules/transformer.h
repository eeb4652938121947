#pragma once

#include "runtime/nn/any_module.h"
#include "runtime/nn/modules/module_list.h"
#include "runtime/nn/modules/transformer_layer.h"

namespace tenon::nn {

/// `num_layers` clones of a layer, and a module that normalizes what the last one gives, if one is
/// given. It is cloned as well.
struct TransformerEncoderOptions {
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options,
                            int64_t num_layers)
      : TransformerEncoderOptions(TransformerEncoderLayer(encoder_layer_options), num_layers) {}
  TENON_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;
  TENON_ARG(int64_t, num_layers);
  TENON_ARG(AnyModule, norm);
};

/// As TransformerEncoderOptions.
struct TransformerDecoderOptions {
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, int64_t num_layers)
      : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options,
                            int64_t num_layers)
      : TransformerDecoderOptions(TransformerDecoderLayer(decoder_layer_options), num_layers) {}
  TENON_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;
  TENON_ARG(int64_t, num_layers);
  TENON_ARG(AnyModule, norm);
};

/// The encoder and the decoder are made of the other options unless given; given ones are cloned.
struct TransformerOptions {
  TransformerOptions() = default;
  TransformerOptions(int64_t d_model, int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TransformerOptions(int64_t d_model, int64_t nhead, int64_t num_encoder_layers,
                     int64_t num_decoder_layers)
      : d_model_(d_model), nhead_(nhead), num_encoder_layers_(num_encoder_layers),
        num_decoder_layers_(num_decoder_layers) {}
  TENON_ARG(int64_t, d_model) = 512;
  TENON_ARG(int64_t, nhead) = 8;
  TENON_ARG(int64_t, num_encoder_layers) = 6;
  TENON_ARG(int64_t, num_decoder_layers) = 6;
  TENON_ARG(int64_t, dim_feedforward) = 2048;
  TENON_ARG(double, dropout) = 0.1;
  TENON_ARG(activation_t, activation) = kReLU;
  TENON_ARG(AnyModule, custom_encoder);
  TENON_ARG(AnyModule, custom_decoder);
};

/// Layers one after another.
class TENON_API TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, int64_t num_layers)
      : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
  explicit TransformerEncoderImpl(TransformerEncoderOptions options);

  Tensor forward(const Tensor& src, const Tensor& src_mask = {},
                 const Tensor& src_key_padding_mask = {});
  void reset() override;
  /// Resets the layers and clones the options' norm again.
  void reset_parameters();

  TransformerEncoderOptions options;
  ModuleList layers{nullptr};
  AnyModule norm;

 protected:
  TENON_FORWARD_DEFAULTS({1, AnyValue(Tensor())}, {2, AnyValue(Tensor())})
};
TENON_MODULE(TransformerEncoder);

/// Layers one after another, each of which looks at the memory.
class TENON_API TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, int64_t num_layers)
      : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
  explicit TransformerDecoderImpl(TransformerDecoderOptions options);

  Tensor forward(const Tensor& tgt, const Tensor& memory, const Tensor& tgt_mask = {},
                 const Tensor& memory_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});
  void reset() override;
  /// Resets the layers and clones the options' norm again.
  void reset_parameters();

  TransformerDecoderOptions options;
  ModuleList layers{nullptr};
  AnyModule norm;

 protected:
  TENON_FORWARD_DEFAULTS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                         {5, AnyValue(Tensor())})
};
TENON_MODULE(TransformerDecoder);

/// An encoder of the source [S, N, d_model] and a decoder of the target [T, N, d_model] that looks
/// at what the encoder gives. Weights are xavier_uniform_ at first.
class TENON_API TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  explicit TransformerImpl(TransformerOptions options);

  Tensor forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask = {},
                 const Tensor& tgt_mask = {}, const Tensor& memory_mask = {},
                 const Tensor& src_key_padding_mask = {}, const Tensor& tgt_key_padding_mask = {},
                 const Tensor& memory_key_padding_mask = {});
  void reset() override;
  void reset_parameters();

  /// Float [sz, sz], to be added to scores: minus infinity above the diagonal, 0 elsewhere, so that
  /// no position sees a later one.
  static Tensor generate_square_subsequent_mask(int64_t sz);

  TransformerOptions options;
  AnyModule encoder;
  AnyModule decoder;

 protected:
  TENON_FORWARD_DEFAULTS({2, AnyValue(Tensor())}, {3, AnyValue(Tensor())}, {4, AnyValue(Tensor())},
                         {5, AnyValue(Tensor())}, {6, AnyValue(Tensor())}, {7, AnyValue(Tensor())})
};
TENON_MODULE(Transformer);

}  // namespace tenon::nn

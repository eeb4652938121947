#include "runtime/nn/modules/transformer.h"

#include <limits>

#include "runtime/nn/init.h"
#include "tenon/ops/full.h"
#include "tenon/ops/triu.h"

namespace tenon::nn {
namespace {

ModuleList clones_of(const Module& layer, int64_t count) {
  ModuleList layers;
  for (int64_t i = 0; i < count; ++i) layers->push_back(layer.clone());
  return layers;
}

/// A clone of the norm of a coder's options, registered, or an empty module if there is none.
template <class Coder>
AnyModule register_norm(Coder& coder) {
  AnyModule norm = coder.options.norm().clone();
  if (!norm.is_empty()) coder.register_module("norm", norm.ptr());
  return norm;
}

template <class Layer, class Coder>
void reset_coder(Coder& coder) {
  for (size_t i = 0; i < coder.layers->size(); ++i)
    coder.layers->template at<Layer>(i).reset_parameters();
  if (!coder.norm.is_empty()) coder.unregister_module("norm");
  coder.norm = register_norm(coder);
}

template <class Coder, class LayerOptions, class CoderOptions>
AnyModule coder_of(const TransformerOptions& options, int64_t num_layers) {
  return AnyModule(Coder(CoderOptions(LayerOptions(options.d_model(), options.nhead())
                                          .dim_feedforward(options.dim_feedforward())
                                          .dropout(options.dropout())
                                          .activation(options.activation()),
                                      num_layers)
                             .norm(AnyModule(LayerNorm(LayerNormOptions({options.d_model()}))))));
}

}  // namespace

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions options)
    : options(std::move(options)) {
  reset();
}

void TransformerEncoderImpl::reset() {
  layers = register_module("layers", clones_of(*options.encoder_layer(), options.num_layers()));
  norm = register_norm(*this);
}

void TransformerEncoderImpl::reset_parameters() { reset_coder<TransformerEncoderLayerImpl>(*this); }

Tensor TransformerEncoderImpl::forward(const Tensor& src, const Tensor& src_mask,
                                       const Tensor& src_key_padding_mask) {
  Tensor x = src;
  for (size_t i = 0; i < layers->size(); ++i)
    x = layers->at<TransformerEncoderLayerImpl>(i).forward(x, src_mask, src_key_padding_mask);
  return norm.is_empty() ? x : norm.forward(x);
}

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions options)
    : options(std::move(options)) {
  reset();
}

void TransformerDecoderImpl::reset() {
  layers = register_module("layers", clones_of(*options.decoder_layer(), options.num_layers()));
  norm = register_norm(*this);
}

void TransformerDecoderImpl::reset_parameters() { reset_coder<TransformerDecoderLayerImpl>(*this); }

Tensor TransformerDecoderImpl::forward(const Tensor& tgt, const Tensor& memory,
                                       const Tensor& tgt_mask, const Tensor& memory_mask,
                                       const Tensor& tgt_key_padding_mask,
                                       const Tensor& memory_key_padding_mask) {
  Tensor x = tgt;
  for (size_t i = 0; i < layers->size(); ++i)
    x = layers->at<TransformerDecoderLayerImpl>(i).forward(
        x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask);
  return norm.is_empty() ? x : norm.forward(x);
}

TransformerImpl::TransformerImpl(TransformerOptions options) : options(std::move(options)) {
  reset();
}

void TransformerImpl::reset() {
  encoder =
      options.custom_encoder().is_empty()
          ? coder_of<TransformerEncoder, TransformerEncoderLayerOptions, TransformerEncoderOptions>(
                options, options.num_encoder_layers())
          : options.custom_encoder().clone();
  register_module("encoder", encoder.ptr());
  decoder =
      options.custom_decoder().is_empty()
          ? coder_of<TransformerDecoder, TransformerDecoderLayerOptions, TransformerDecoderOptions>(
                options, options.num_decoder_layers())
          : options.custom_decoder().clone();
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (const Tensor& parameter : parameters()) {
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
  }
}

Tensor TransformerImpl::forward(const Tensor& src, const Tensor& tgt, const Tensor& src_mask,
                                const Tensor& tgt_mask, const Tensor& memory_mask,
                                const Tensor& src_key_padding_mask,
                                const Tensor& tgt_key_padding_mask,
                                const Tensor& memory_key_padding_mask) {
  TENON_CHECK(src.dim() == 3 && tgt.dim() == 3,
              "[Transformer] src and tgt should have 3 dimensions, but got ", src.dim(), " and ",
              tgt.dim());
  TENON_CHECK(src.size(1) == tgt.size(1),
              "[Transformer] src and tgt should have equal batch size (at dim 1), but got ",
              src.size(1), " and ", tgt.size(1));
  TENON_CHECK(src.size(2) == options.d_model() && tgt.size(2) == options.d_model(),
              "[Transformer] src and tgt should have same feature size as d_model (at dim 2), but "
              "got ",
              src.size(2), " and ", tgt.size(2), " while d_model is ", options.d_model());
  const Tensor memory = encoder.forward(src, src_mask, src_key_padding_mask);
  return decoder.forward(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                         memory_key_padding_mask);
}

Tensor TransformerImpl::generate_square_subsequent_mask(int64_t sz) {
  TENON_CHECK_VALUE(sz >= 0,
                    "Input size must be non-negative to generate a valid square subsequent mask, "
                    "but got ",
                    sz);
  return triu(full({sz, sz}, -std::numeric_limits<double>::infinity(), TensorOptions(kFloat)), 1);
}

}  // namespace tenon::nn

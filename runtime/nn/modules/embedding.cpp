#include "runtime/nn/modules/embedding.h"

namespace tenon::nn {

Embedding Embedding::from_pretrained(const Tensor& embeddings,
                                     const EmbeddingFromPretrainedOptions& options) {
  TENON_CHECK_VALUE(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  Embedding made(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                     .padding_idx(options.padding_idx())
                     .max_norm(options.max_norm())
                     .norm_type(options.norm_type())
                     .scale_grad_by_freq(options.scale_grad_by_freq())
                     .sparse(options.sparse())
                     ._weight(embeddings));
  made->weight.set_requires_grad(!options.freeze());
  return made;
}

EmbeddingBag EmbeddingBag::from_pretrained(const Tensor& embeddings,
                                           const EmbeddingBagFromPretrainedOptions& options) {
  TENON_CHECK_VALUE(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional");
  EmbeddingBag made(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))
                        .max_norm(options.max_norm())
                        .norm_type(options.norm_type())
                        .scale_grad_by_freq(options.scale_grad_by_freq())
                        .mode(options.mode())
                        .sparse(options.sparse())
                        ._weight(embeddings)
                        .include_last_offset(options.include_last_offset())
                        .padding_idx(options.padding_idx()));
  made->weight.set_requires_grad(!options.freeze());
  return made;
}

}  // namespace tenon::nn

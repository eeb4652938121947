#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/options.h"

namespace tenon::nn {

/// Row `input[...]` of weight [num_embeddings, embedding_dim]: [...] of integers to [...,
/// embedding_dim]. Standard normal at first.
class TENON_API EmbeddingImpl : public Module {
 public:
  EmbeddingImpl(int64_t num_embeddings, int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(const EmbeddingOptions& options);
  void reset_parameters();
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  EmbeddingOptions options;
  Tensor weight;
};
TENON_MODULE(Embedding);

}  // namespace tenon::nn

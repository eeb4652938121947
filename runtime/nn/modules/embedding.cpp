#include "runtime/nn/modules/embedding.h"

#include "aten/core/thread_state.h"
#include "runtime/nn/init.h"
#include "tenon/ops/embedding.h"
#include "tenon/ops/empty.h"

namespace tenon::nn {

EmbeddingImpl::EmbeddingImpl(const EmbeddingOptions& o) : options(o) {
  if (auto& row = options.padding_idx()) {
    TENON_CHECK_VALUE(*row >= -o.num_embeddings() && *row < o.num_embeddings(),
                      "[Embedding] padding_idx must be in [", -o.num_embeddings(), ", ",
                      o.num_embeddings() - 1, "], got ", *row);
    if (*row < 0) *row += o.num_embeddings();
  }
  weight =
      register_parameter("weight", empty({o.num_embeddings(), o.embedding_dim()}, TensorOptions()));
  reset_parameters();
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (options.padding_idx()) {
    NoGradGuard no_grad;
    weight.select(0, *options.padding_idx()).zero_();
  }
}

Tensor EmbeddingImpl::forward(const Tensor& input) {
  return tenon::embedding(weight, input, options.padding_idx().value_or(-1),
                          options.scale_grad_by_freq());
}

void EmbeddingImpl::pretty_print(std::ostream& out) const {
  out << "Embedding(num_embeddings=" << options.num_embeddings()
      << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) out << ", padding_idx=" << *options.padding_idx();
  out << ')';
}

}  // namespace tenon::nn

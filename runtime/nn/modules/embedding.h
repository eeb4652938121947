#pragma once

#include "tenon/nn/modules/sparse.h"

namespace tenon::nn {

/// Options of Embedding::from_pretrained.
class EmbeddingFromPretrainedOptions {
 public:
  TENON_ARG(bool, freeze) = true;
  TENON_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
  TENON_ARG(std::optional<double>, max_norm) = std::nullopt;
  TENON_ARG(double, norm_type) = 2;
  TENON_ARG(bool, scale_grad_by_freq) = false;
  TENON_ARG(bool, sparse) = false;
};

/// The handle of EmbeddingImpl.
class TENON_API Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  using Impl = EmbeddingImpl;
  /// With the table `embeddings`, which is not trained unless freeze is false. ValueError unless it
  /// has two dimensions.
  static Embedding from_pretrained(const Tensor& embeddings,
                                   const EmbeddingFromPretrainedOptions& options = {});
};

/// Options of EmbeddingBag::from_pretrained.
class EmbeddingBagFromPretrainedOptions {
 public:
  using mode_t = EmbeddingBagOptions::mode_t;
  TENON_ARG(bool, freeze) = true;
  TENON_ARG(std::optional<double>, max_norm) = std::nullopt;
  TENON_ARG(double, norm_type) = 2;
  TENON_ARG(bool, scale_grad_by_freq) = false;
  TENON_ARG(mode_t, mode) = kMean;
  TENON_ARG(bool, sparse) = false;
  TENON_ARG(bool, include_last_offset) = false;
  TENON_ARG(std::optional<int64_t>, padding_idx) = std::nullopt;
};

/// The handle of EmbeddingBagImpl.
class TENON_API EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  using Impl = EmbeddingBagImpl;
  /// As Embedding::from_pretrained.
  static EmbeddingBag from_pretrained(const Tensor& embeddings,
                                      const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace tenon::nn

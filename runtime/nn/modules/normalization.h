#pragma once

#include "runtime/nn/module.h"
#include "runtime/nn/options.h"

namespace tenon::nn {

/// (x - mean) / sqrt(var + eps) * weight + bias per channel of [N, C, H, W]. Training uses the
/// batch's statistics and moves the running ones towards them by `momentum`; evaluation uses the
/// running ones. Parameters weight and bias [C], buffers running_mean, running_var [C] and
/// num_batches_tracked.
class TENON_API BatchNorm2dImpl : public Module {
 public:
  BatchNorm2dImpl(int64_t num_features) : BatchNorm2dImpl(BatchNorm2dOptions(num_features)) {}
  explicit BatchNorm2dImpl(const BatchNorm2dOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  BatchNorm2dOptions options;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_var;
  Tensor num_batches_tracked;
};
TENON_MODULE(BatchNorm2d);

/// (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, those of
/// normalized_shape.
class TENON_API LayerNormImpl : public Module {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape)
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(const LayerNormOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  LayerNormOptions options;
  Tensor weight;
  Tensor bias;
};
TENON_MODULE(LayerNorm);

}  // namespace tenon::nn

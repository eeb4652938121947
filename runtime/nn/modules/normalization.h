#pragma once

#include <functional>

#include "runtime/nn/cloneable.h"
#include "runtime/nn/options.h"

namespace tenon::nn {

/// (x - mean) / sqrt(var + eps) * weight + bias per channel, dimension 1. Training uses the batch's
/// statistics and moves the running ones towards them by `momentum`; evaluation uses the running
/// ones. Parameters weight and bias [C], buffers running_mean, running_var [C] and
/// num_batches_tracked. ValueError for an input of another rank, and in training for one value per
/// channel, which has no variance.
class TENON_API BatchNormImpl : public Module {
 public:
  explicit BatchNormImpl(const BatchNormOptions& options);
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  BatchNormOptions options;
  Tensor weight;
  Tensor bias;
  Tensor running_mean;
  Tensor running_var;
  Tensor num_batches_tracked;
  /// Where it is set, it normalises by the batch's statistics and moves the running ones, instead
  /// of the batch_norm operator: see distributed::convert_sync_batchnorm.
  std::function<Tensor(const BatchNormImpl& self, const Tensor& input, double momentum)>
      normalize_batch;

 protected:
  /// Throws unless the input has the rank that the class is for.
  virtual void check_input(const Tensor& input) const = 0;
};

/// Batch normalisation of [N, C] or [N, C, L].
class TENON_API BatchNorm1dImpl : public BatchNormImpl {
 public:
  BatchNorm1dImpl(int64_t num_features) : BatchNormImpl(BatchNorm1dOptions(num_features)) {}
  explicit BatchNorm1dImpl(const BatchNorm1dOptions& options) : BatchNormImpl(options) {}

 protected:
  void check_input(const Tensor& input) const override;
};
TENON_MODULE(BatchNorm1d);

/// Batch normalisation of [N, C, H, W].
class TENON_API BatchNorm2dImpl : public BatchNormImpl {
 public:
  BatchNorm2dImpl(int64_t num_features) : BatchNormImpl(BatchNorm2dOptions(num_features)) {}
  explicit BatchNorm2dImpl(const BatchNorm2dOptions& options) : BatchNormImpl(options) {}

 protected:
  void check_input(const Tensor& input) const override;
};
TENON_MODULE(BatchNorm2d);

/// (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, those of
/// normalized_shape.
class TENON_API LayerNormImpl : public Cloneable<LayerNormImpl> {
 public:
  LayerNormImpl(std::vector<int64_t> normalized_shape)
      : LayerNormImpl(LayerNormOptions(std::move(normalized_shape))) {}
  explicit LayerNormImpl(const LayerNormOptions& options);
  void reset() override;
  Tensor forward(const Tensor& input);
  void pretty_print(std::ostream& out) const override;

  LayerNormOptions options;
  Tensor weight;
  Tensor bias;
};
TENON_MODULE(LayerNorm);

}  // namespace tenon::nn

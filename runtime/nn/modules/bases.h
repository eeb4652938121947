#pragma once

#include <functional>

#include "tenon/tensor.h"

namespace tenon::nn {

/// Of batch normalizations: what normalizes a batch in training, if it is not batch_norm. See
/// distributed::convert_sync_batchnorm.
struct BatchNormHook {
  virtual ~BatchNormHook() = default;
  std::function<Tensor(const Tensor& input, const Tensor& weight, const Tensor& bias,
                       const Tensor& running_mean, const Tensor& running_var, double momentum,
                       double eps)>
      normalize_batch;
};

}  // namespace tenon::nn

#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "runtime/data/datasets/dataset.h"

namespace tenon::data::datasets {

/// The rows of a tensor, examples without a target.
struct TENON_API TensorDataset : public Dataset<TensorDataset, TensorExample> {
  /// Stacks the tensors, which must have the same shape.
  explicit TensorDataset(const std::vector<Tensor>& tensors);
  explicit TensorDataset(Tensor tensor) : tensor(std::move(tensor)) {}

  TensorExample get(size_t index) override;
  std::optional<size_t> size() const override { return static_cast<size_t>(tensor.size(0)); }

  Tensor tensor;
};

}  // namespace tenon::data::datasets

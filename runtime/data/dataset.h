#pragma once

#include <string>

#include "tenon/tensor.h"

namespace tenon::data {

/// An example or, stacked along dimension 0, a batch of them.
struct Example {
  Tensor data;
  Tensor target;
};

/// Examples by number.
class TENON_API Dataset {
 public:
  virtual ~Dataset() = default;
  virtual int64_t size() const = 0;
  /// Example `index` of [0, size()).
  virtual Example get(int64_t index) const = 0;
  /// The examples of these numbers, stacked. Override it where all at once is cheaper than one by
  /// one.
  virtual Example get_batch(IntArrayRef indices) const;
};

/// Rows of tensors that are in memory.
class TENON_API TensorDataset : public Dataset {
 public:
  /// ValueError unless data and target have the same size along dimension 0.
  TensorDataset(Tensor data, Tensor target);
  explicit TensorDataset(Example rows)
      : TensorDataset(std::move(rows.data), std::move(rows.target)) {}
  int64_t size() const override { return data_.size(0); }
  Example get(int64_t index) const override;
  Example get_batch(IntArrayRef indices) const override;
  const Tensor& data() const { return data_; }
  const Tensor& targets() const { return target_; }

 private:
  Tensor data_;
  Tensor target_;
};

}  // namespace tenon::data

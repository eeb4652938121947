#pragma once

#include "aten/core/generator.h"
#include "runtime/data/samplers/sampler.h"
#include "tenon/tensor.h"

namespace tenon::data::samplers {

/// 0, 1, ..., size - 1 in a random order, which randperm draws at construction and at each reset.
class TENON_API RandomSampler : public Sampler<> {
 public:
  /// Keeps the indices as a tensor of `index_dtype`. Draws from the default generator unless
  /// another is given.
  explicit RandomSampler(int64_t size, ScalarType index_dtype = kLong,
                         std::optional<Generator> generator = std::nullopt);

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

  /// Number of examples of the epoch that were requested.
  size_t index() const noexcept { return static_cast<size_t>(index_); }

 private:
  std::optional<Generator> generator_;
  Tensor indices_;
  int64_t index_ = 0;
};

}  // namespace tenon::data::samplers

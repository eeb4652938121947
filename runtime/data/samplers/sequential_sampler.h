#pragma once

#include "runtime/data/samplers/sampler.h"

namespace tenon::data::samplers {

/// 0, 1, ..., size - 1.
class TENON_API SequentialSampler : public Sampler<> {
 public:
  explicit SequentialSampler(size_t size) : size_(size) {}

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

  /// Number of examples of the epoch that were requested.
  size_t index() const noexcept { return index_; }

 private:
  size_t size_;
  size_t index_ = 0;
};

}  // namespace tenon::data::samplers

#pragma once

#include "aten/core/error.h"
#include "runtime/data/samplers/sampler.h"

namespace tenon::data::samplers {

/// Base of samplers that give each of `num_replicas` processes a part of the examples. All parts
/// have the same size. If the examples cannot be divided equally, the first ones come twice, or,
/// without `allow_duplicates`, the last ones are left out.
template <class BatchRequest = std::vector<size_t>>
class DistributedSampler : public Sampler<BatchRequest> {
 public:
  /// ValueError unless rank is in [0, num_replicas).
  DistributedSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                     bool allow_duplicates = true)
      : size_(size), num_replicas_(num_replicas), rank_(rank), epoch_(0),
        allow_duplicates_(allow_duplicates) {
    TENON_CHECK_VALUE(rank < num_replicas,
                      "[DistributedSampler] expected a rank below num_replicas, ", num_replicas,
                      ", got ", rank);
  }

  /// Changes what the next reset() shuffles by.
  void set_epoch(size_t epoch) { epoch_ = epoch; }
  size_t epoch() const { return epoch_; }

 protected:
  /// Number of examples of each process.
  size_t local_sample_count() const {
    return allow_duplicates_ ? (size_ + num_replicas_ - 1) / num_replicas_ : size_ / num_replicas_;
  }

  size_t size_;
  size_t num_replicas_;
  size_t rank_;
  size_t epoch_;
  bool allow_duplicates_;
};

/// A process's part of all examples in a random order, which depends on the epoch alone and is
/// therefore the same in all processes.
class TENON_API DistributedRandomSampler : public DistributedSampler<> {
 public:
  DistributedRandomSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                           bool allow_duplicates = true);

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

  /// Position in the order of all examples.
  size_t index() const noexcept { return sample_index_; }

 private:
  void shuffle();

  size_t sample_index_ = 0;
  size_t end_index_ = 0;
  std::vector<size_t> all_indices_;
};

/// A process's part of all examples in order: one range of indices.
class TENON_API DistributedSequentialSampler : public DistributedSampler<> {
 public:
  DistributedSequentialSampler(size_t size, size_t num_replicas = 1, size_t rank = 0,
                               bool allow_duplicates = true);

  void reset(std::optional<size_t> new_size = std::nullopt) override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  void save(serialize::OutputArchive& archive) const override;
  void load(serialize::InputArchive& archive) override;

  /// Position in all examples.
  size_t index() const noexcept { return sample_index_; }

 private:
  size_t sample_index_;
};

}  // namespace tenon::data::samplers

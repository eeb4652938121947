#pragma once

#include <cstdint>
#include <vector>

#include "aten/core/error.h"

namespace tenon::distributed {

struct DistributedSamplerOptions {
  int num_replicas = -1;  ///< by default the size of the default group
  int rank = -1;          ///< by default the rank there
  bool shuffle = true;
  uint64_t seed = 0;
  /// Leave out examples so that all ranks have as many; else the first ones are repeated.
  bool drop_last = false;
};

/// Which examples a rank goes through in an epoch: every num_replicas-th of all, in an order that
/// the seed and the epoch give. The parts of the ranks have the same size and cover all. The order
/// is PyTorch's.
class TENON_API DistributedSampler {
 public:
  /// ValueError for a rank outside [0, num_replicas), or no examples.
  DistributedSampler(int64_t dataset_size, const DistributedSamplerOptions& options = {});
  /// The epoch whose order indices() gives.
  void set_epoch(int64_t epoch) { epoch_ = epoch; }
  int64_t epoch() const { return epoch_; }
  /// Number of examples of each rank.
  int64_t size() const { return size_; }
  /// The rank's examples in this epoch.
  std::vector<size_t> indices() const;
  /// In batches, as get_batch() of a data set takes them, the last of which may be smaller; from
  /// `first_batch` on, so that a run goes on where it was interrupted. ValueError for a batch size
  /// below 1 or a batch outside the epoch.
  std::vector<std::vector<size_t>> batches(int64_t batch_size, int64_t first_batch = 0) const;

 private:
  const int64_t dataset_size_;
  const DistributedSamplerOptions options_;
  int64_t replicas_, rank_, size_;
  int64_t epoch_ = 0;
};

}  // namespace tenon::distributed

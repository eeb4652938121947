#include "runtime/data/samplers/distributed_samplers.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace tenon::data::samplers {

DistributedRandomSampler::DistributedRandomSampler(size_t size, size_t num_replicas, size_t rank,
                                                   bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates) {
  shuffle();
}

void DistributedRandomSampler::shuffle() {
  const size_t count = local_sample_count();
  all_indices_.resize(num_replicas_ == 1 ? size_ : count * num_replicas_);
  for (size_t i = 0; i < all_indices_.size(); ++i) all_indices_[i] = i % size_;
  std::mt19937 engine(static_cast<std::mt19937::result_type>(epoch_));
  std::shuffle(all_indices_.begin(), all_indices_.end(), engine);
  sample_index_ = rank_ * count;
  end_index_ = sample_index_ + count;
}

void DistributedRandomSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  shuffle();
}

std::optional<std::vector<size_t>> DistributedRandomSampler::next(size_t batch_size) {
  if (sample_index_ >= end_index_) return std::nullopt;
  const auto first = all_indices_.begin() + static_cast<std::ptrdiff_t>(sample_index_);
  const size_t count = std::min(batch_size, end_index_ - sample_index_);
  sample_index_ += count;
  return std::vector<size_t>(first, first + static_cast<std::ptrdiff_t>(count));
}

DistributedSequentialSampler::DistributedSequentialSampler(size_t size, size_t num_replicas,
                                                           size_t rank, bool allow_duplicates)
    : DistributedSampler(size, num_replicas, rank, allow_duplicates),
      sample_index_(rank * local_sample_count()) {}

void DistributedSequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  sample_index_ = rank_ * local_sample_count();
}

std::optional<std::vector<size_t>> DistributedSequentialSampler::next(size_t batch_size) {
  const size_t end = (rank_ + 1) * local_sample_count();
  if (sample_index_ >= end) return std::nullopt;
  std::vector<size_t> indices(std::min(batch_size, end - sample_index_));
  // Past the last example the first ones come again.
  for (size_t& index : indices) index = sample_index_++ % size_;
  return indices;
}

}  // namespace tenon::data::samplers

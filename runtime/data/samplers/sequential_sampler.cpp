#include "runtime/data/samplers/sequential_sampler.h"

#include <algorithm>
#include <numeric>

namespace tenon::data::samplers {

void SequentialSampler::reset(std::optional<size_t> new_size) {
  size_ = new_size.value_or(size_);
  index_ = 0;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  // An index that was loaded may be beyond the size.
  if (index_ >= size_) return std::nullopt;
  std::vector<size_t> indices(std::min(batch_size, size_ - index_));
  std::iota(indices.begin(), indices.end(), index_);
  index_ += indices.size();
  return indices;
}

}  // namespace tenon::data::samplers

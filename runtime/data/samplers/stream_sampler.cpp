#include "runtime/data/samplers/stream_sampler.h"

#include <algorithm>

namespace tenon::data::samplers {

void StreamSampler::reset(std::optional<size_t> new_size) {
  epoch_size_ = new_size.value_or(epoch_size_);
  examples_retrieved_so_far_ = 0;
}

std::optional<BatchSize> StreamSampler::next(size_t batch_size) {
  if (examples_retrieved_so_far_ >= epoch_size_) return std::nullopt;
  const size_t size = std::min(batch_size, epoch_size_ - examples_retrieved_so_far_);
  examples_retrieved_so_far_ += size;
  return BatchSize(size);
}

}  // namespace tenon::data::samplers

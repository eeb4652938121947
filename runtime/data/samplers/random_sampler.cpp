#include "runtime/data/samplers/random_sampler.h"

#include <algorithm>

#include "tenon/ops/randperm.h"
#include "tenon/ops/slice.h"
#include "tenon/ops/to.h"

namespace tenon::data::samplers {

RandomSampler::RandomSampler(int64_t size, ScalarType index_dtype,
                             std::optional<Generator> generator)
    : generator_(std::move(generator)),
      indices_(randperm(size, generator_, TensorOptions(index_dtype))) {}

void RandomSampler::reset(std::optional<size_t> new_size) {
  const int64_t size = new_size ? static_cast<int64_t>(*new_size) : indices_.numel();
  indices_ = randperm(size, generator_, TensorOptions(indices_.dtype()));
  index_ = 0;
}

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  const auto left = static_cast<size_t>(indices_.numel() - index_);
  if (left == 0) return std::nullopt;
  std::vector<size_t> indices(std::min(batch_size, left));
  const int64_t end = index_ + static_cast<int64_t>(indices.size());
  const Tensor taken = slice(indices_, 0, index_, end).to(kLong);
  std::copy_n(taken.data_ptr<int64_t>(), indices.size(), indices.begin());
  index_ = end;
  return indices;
}

}  // namespace tenon::data::samplers

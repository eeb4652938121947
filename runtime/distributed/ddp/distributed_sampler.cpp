#include "runtime/distributed/ddp/distributed_sampler.h"

#include <algorithm>
#include <numeric>

#include "aten/core/generator.h"
#include "runtime/distributed/process_group.h"
#include "tenon/ops/randperm.h"

namespace tenon::distributed {

DistributedSampler::DistributedSampler(int64_t dataset_size,
                                       const DistributedSamplerOptions& options)
    : dataset_size_(dataset_size), options_(options),
      replicas_(options.num_replicas >= 0 ? options.num_replicas : get_world_size()),
      rank_(options.rank >= 0 ? options.rank : get_rank()) {
  TENON_CHECK_VALUE(rank_ < replicas_, "[DistributedSampler] expected a rank below num_replicas, ",
                    replicas_, ", got ", rank_);
  TENON_CHECK_VALUE(dataset_size > 0, "[DistributedSampler] expected examples, got ", dataset_size);
  size_ = options.drop_last ? dataset_size / replicas_ : (dataset_size + replicas_ - 1) / replicas_;
}

std::vector<size_t> DistributedSampler::indices() const {
  std::vector<size_t> all(static_cast<size_t>(dataset_size_));
  if (options_.shuffle) {
    const Generator generator = make_generator(kCPU, options_.seed + static_cast<uint64_t>(epoch_));
    const Tensor order = randperm(dataset_size_, generator, TensorOptions(kLong));
    std::copy_n(order.data_ptr<int64_t>(), all.size(), all.begin());
  } else {
    std::iota(all.begin(), all.end(), size_t{0});
  }
  std::vector<size_t> own;
  for (int64_t i = 0; i < size_; ++i) {
    const int64_t at = i * replicas_ + rank_;
    own.push_back(all[static_cast<size_t>(at % dataset_size_)]);
  }
  return own;
}

std::vector<std::vector<size_t>> DistributedSampler::batches(int64_t batch_size,
                                                             int64_t first_batch) const {
  TENON_CHECK_VALUE(batch_size > 0, "[DistributedSampler] batch_size must be positive, got ",
                    batch_size);
  const int64_t count = (size_ + batch_size - 1) / batch_size;
  TENON_CHECK_VALUE(first_batch >= 0 && first_batch <= count, "[DistributedSampler] there are ",
                    count, " batches, got ", first_batch, " as the first");
  const std::vector<size_t> own = indices();
  std::vector<std::vector<size_t>> all;
  for (int64_t b = first_batch; b < count; ++b) {
    const auto begin = own.begin() + b * batch_size;
    all.emplace_back(begin, own.begin() + std::min(size_, (b + 1) * batch_size));
  }
  return all;
}

}  // namespace tenon::distributed

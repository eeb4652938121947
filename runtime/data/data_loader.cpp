#include "runtime/data/data_loader.h"

#include <algorithm>
#include <numeric>

#include "tenon/ops/randperm.h"

namespace tenon::data {
namespace {

/// What `torch.empty((), dtype=int64).random_()` draws.
int64_t draw_seed(const Generator& generator) {
  const std::lock_guard lock(generator->mutex);
  return static_cast<int64_t>(generator->random64() & 0x7FFFFFFFFFFFFFFFull);
}

}  // namespace

DataLoader::DataLoader(const Dataset& dataset, DataLoaderOptions options)
    : dataset_(dataset), options_(options) {
  TENON_CHECK_VALUE(options_.batch_size() > 0, "[DataLoader] batch_size must be positive, got ",
                    options_.batch_size());
}

int64_t DataLoader::size() const {
  const int64_t batch = options_.batch_size();
  return (dataset_.size() + (options_.drop_last() ? 0 : batch - 1)) / batch;
}

std::vector<int64_t> DataLoader::make_order() const {
  std::vector<int64_t> order(dataset_.size());
  const bool own = options_.generator().has_value();
  const Generator& source = own ? *options_.generator() : default_generator();
  // PyTorch's loader draws a seed for its workers, needed or not, and one for the order unless it
  // was given a generator, which then makes the order itself.
  draw_seed(source);
  if (!options_.shuffle()) {
    std::iota(order.begin(), order.end(), int64_t{0});
    return order;
  }
  const Generator generator =
      own ? source : make_generator(kCPU, static_cast<uint64_t>(draw_seed(source)));
  const Tensor permutation = randperm(dataset_.size(), generator, TensorOptions(kLong));
  std::copy_n(permutation.data_ptr<int64_t>(), order.size(), order.begin());
  return order;
}

DataLoader::Iterator DataLoader::begin(int64_t first_batch) const {
  TENON_CHECK_VALUE(first_batch >= 0 && first_batch <= size(), "[DataLoader] there are ", size(),
                    " batches, got ", first_batch, " as the first");
  Iterator it(this, first_batch);
  it.order_ = std::make_shared<const std::vector<int64_t>>(make_order());
  it.load();
  return it;
}

void DataLoader::Iterator::load() {
  const auto total = static_cast<int64_t>(order_->size());
  const int64_t size = loader_->options_.batch_size();
  const int64_t first = batch_ * size;
  if (batch_ >= loader_->size()) return example_.reset();
  const int64_t count = std::min(size, total - first);
  example_ =
      loader_->dataset_.get_batch(IntArrayRef(order_->data() + first, static_cast<size_t>(count)));
}

DataLoader::Iterator& DataLoader::Iterator::operator++() {
  ++batch_;
  load();
  return *this;
}

}  // namespace tenon::data

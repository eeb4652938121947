#pragma once

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "runtime/data/data_loader_base.h"
#include "runtime/data/samplers/random_sampler.h"

namespace tenon::data {

/// The loader of a data set whose batches a sampler requests. Each worker has its own copy of the
/// data set.
template <class Dataset, class Sampler>
class StatelessDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType,
                                                  typename Sampler::BatchRequestType> {
 public:
  using super =
      DataLoaderBase<Dataset, typename Dataset::BatchType, typename Sampler::BatchRequestType>;
  using typename super::BatchRequestType;

  StatelessDataLoader(Dataset dataset, Sampler sampler, DataLoaderOptions options)
      : super(std::move(options)), sampler_(std::move(sampler)) {
    if (this->options_.workers == 0) {
      this->main_thread_dataset_ = std::make_unique<Dataset>(std::move(dataset));
    } else if constexpr (std::is_copy_constructible_v<Dataset>) {
      for (size_t i = 0; i < this->options_.workers; ++i) this->start_worker_with_copy(dataset);
    } else {
      tenon::detail::raise<ValueError>(
          "[DataLoader] workers need copies of the data set, and this one cannot be copied; "
          "make_shared_dataset lets them share one");
    }
  }

 protected:
  void reset() override {
    sampler_.reset();
    super::reset();
  }

  std::optional<BatchRequestType> get_batch_request() override {
    std::optional<BatchRequestType> request = sampler_.next(this->options_.batch_size);
    if (request && this->options_.drop_last && request->size() < this->options_.batch_size)
      return std::nullopt;
    TENON_CHECK(!request || request->size() > 0, "[DataLoader] the sampler requests no examples");
    return request;
  }

  bool skip_batch() override { return get_batch_request().has_value(); }

 private:
  Sampler sampler_;
};

/// The loader of a stateful data set, which all workers share.
template <class Dataset>
class StatefulDataLoader : public DataLoaderBase<Dataset, typename Dataset::BatchType::value_type,
                                                 typename Dataset::BatchRequestType> {
 public:
  using super = DataLoaderBase<Dataset, typename Dataset::BatchType::value_type,
                               typename Dataset::BatchRequestType>;
  using typename super::BatchRequestType;

  StatefulDataLoader(Dataset dataset, DataLoaderOptions options)
      : super(std::move(options), std::make_unique<Dataset>(std::move(dataset))) {
    for (size_t i = 0; i < this->options_.workers; ++i)
      this->start_worker(*this->main_thread_dataset_);
  }

 protected:
  void reset() override {
    this->main_thread_dataset_->reset();
    super::reset();
  }

  std::optional<BatchRequestType> get_batch_request() override { return this->options_.batch_size; }

  bool skip_batch() override {
    return this->main_thread_dataset_->get_batch(this->options_.batch_size).has_value();
  }
};

/// A loader of `dataset` with the requests of `sampler`.
template <class Dataset, class Sampler>
requires(!Dataset::is_stateful)
    std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
        Dataset dataset, Sampler sampler, DataLoaderOptions options) {
  return std::make_unique<StatelessDataLoader<Dataset, Sampler>>(
      std::move(dataset), std::move(sampler), std::move(options));
}

/// A loader of `dataset` with a sampler of its size. Error if the size is not known.
template <class Sampler = samplers::RandomSampler, class Dataset>
requires(!Dataset::is_stateful && std::is_constructible_v<Sampler, size_t>)
    std::unique_ptr<StatelessDataLoader<Dataset, Sampler>> make_data_loader(
        Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  const std::optional<size_t> size = dataset.size();
  TENON_CHECK(size, "Expected the dataset to be sized in order to construct the Sampler");
  return make_data_loader(std::move(dataset), Sampler(*size), std::move(options));
}

/// A loader of a stateful data set.
template <class Dataset>
requires(Dataset::is_stateful) std::unique_ptr<StatefulDataLoader<Dataset>> make_data_loader(
    Dataset dataset, DataLoaderOptions options = DataLoaderOptions()) {
  return std::make_unique<StatefulDataLoader<Dataset>>(std::move(dataset), std::move(options));
}

}  // namespace tenon::data

#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/data/datasets/stateful_dataset.h"
#include "runtime/data/detail/batch_data_buffer.h"
#include "runtime/data/samplers/random_sampler.h"
#include "runtime/nn/arg.h"

namespace tenon::data::datasets {

/// Reads chunks: lists of examples that are in memory together, such as the content of a file. Its
/// functions are called from several threads if there are several preloaders.
template <class SingleExample, class Chunk = std::vector<SingleExample>>
class ChunkDataReader {
 public:
  using ExampleType = SingleExample;
  using ChunkType = Chunk;
  using BatchType = Chunk;

  virtual ~ChunkDataReader() = default;
  /// The chunk at an index in [0, chunk_count()).
  virtual ChunkType read_chunk(size_t chunk_index) = 0;
  virtual size_t chunk_count() = 0;
  /// Begins an epoch.
  virtual void reset() = 0;
};

struct ChunkDatasetOptions {
  /// ValueError for a 0, and for a cache that cannot hold a batch.
  ChunkDatasetOptions(size_t preloader_count, size_t batch_size, size_t cache_size = 2048,
                      size_t cross_chunk_shuffle_count = 1)
      : preloader_count_(preloader_count), batch_size_(batch_size), cache_size_(cache_size),
        cross_chunk_shuffle_count_(cross_chunk_shuffle_count) {
    TENON_CHECK_VALUE(preloader_count_ > 0,
                      "Preloader count is 0. At least one preloader needs to be specified.");
    TENON_CHECK_VALUE(batch_size_ > 0,
                      "Batch size is 0. A positive batch size needs to be specified.");
    TENON_CHECK_VALUE(cache_size_ > 0,
                      "Cache size is 0. A positive cache size needs to be specified.");
    TENON_CHECK_VALUE(cache_size_ >= batch_size_,
                      "Cache size is less than batch size. Cache needs to be large enough to hold "
                      "at least one batch.");
    TENON_CHECK_VALUE(cross_chunk_shuffle_count_ > 0,
                      "cross_chunk_shuffle_count needs to be greater than 0.");
  }

  /// Threads that read chunks ahead.
  TENON_ARG(size_t, preloader_count);
  TENON_ARG(size_t, batch_size);
  /// Number of examples at which reading ahead stops.
  TENON_ARG(size_t, cache_size);
  /// Chunks that are read together, so that their examples are mixed.
  TENON_ARG(size_t, cross_chunk_shuffle_count);
};

/// Examples in chunks, which threads read ahead. `ChunkSampler` gives the order of the chunks,
/// `ExampleSampler` the order of the examples in each. It is neither copied nor moved: use it by
/// make_shared_dataset().
template <class ChunkReader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final
    : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>,
                             typename ChunkReader::BatchType, size_t> {
 public:
  using UnwrappedBatchType = typename ChunkReader::BatchType;
  using BatchType = std::optional<UnwrappedBatchType>;
  using BatchRequestType = size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;

  /// `preprocessing_policy`, if given, may change the examples of the chunks that are read together
  /// before they are sampled.
  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               ChunkDatasetOptions options,
               std::function<void(UnwrappedBatchType&)> preprocessing_policy = {})
      : chunk_reader_(std::move(chunk_reader)), chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)), options_(std::move(options)),
        preprocessing_policy_(std::move(preprocessing_policy)) {}
  ~ChunkDataset() override { end_preloaders(); }

  /// The next batch, of another size at the end of an epoch alone; nothing after it. Error before
  /// reset() and for another size than that of the options. WorkerException for an exception of the
  /// reader, whose chunk is left out.
  BatchType get_batch(size_t batch_size) override {
    TENON_CHECK(batch_buffer_, "Dataset needs to call reset() before calling get_batch().");
    TENON_CHECK(batch_size == options_.batch_size(),
                "The requested batch size does not match with the initialized batch size.\n The "
                "requested batch size is ",
                batch_size, ", while the dataset is created with batch size equal to ",
                options_.batch_size());
    return batch_buffer_->get_batch();
  }
  BatchType get_batch() { return get_batch(options_.batch_size()); }

  /// Begins an epoch, or goes on with the one that was loaded, and starts to read.
  void reset() override {
    end_preloaders();
    if (!std::exchange(in_loaded_epoch_, false)) {
      chunk_reader_.reset();
      chunk_sampler_.reset(chunk_reader_.chunk_count());
    }
    batch_buffer_ =
        std::make_unique<Buffer>(options_.batch_size(), example_sampler_, options_.cache_size());
    quit_ = false;
    running_preloaders_ = options_.preloader_count();
    for (size_t i = 0; i < options_.preloader_count(); ++i)
      preloaders_.emplace_back([this] { preload(); });
  }

  /// Not known.
  std::optional<size_t> size() const override { return std::nullopt; }

  /// For set_epoch() of a distributed sampler.
  ChunkSamplerType& chunk_sampler() { return chunk_sampler_; }

  /// Saves which chunks of the epoch have been read. Examples that are read and not taken count as
  /// taken.
  void save(serialize::OutputArchive& archive) const override {
    const std::lock_guard lock(sampler_mutex_);
    chunk_sampler_.save(archive);
  }
  /// The next reset() goes on with the chunks that were not read when it was saved.
  void load(serialize::InputArchive& archive) override {
    const std::lock_guard lock(sampler_mutex_);
    chunk_sampler_.reset(chunk_reader_.chunk_count());
    chunk_sampler_.load(archive);
    in_loaded_epoch_ = true;
  }

 private:
  using Buffer = detail::BatchDataBuffer<UnwrappedBatchType, ExampleSamplerType>;

  void preload() {
    std::vector<size_t> chunks;
    // An exception of the sampler ends the epoch, one of the reader leaves out a chunk.
    while (!quit_ && try_to([&] { chunks = next_chunks(); }) && !chunks.empty()) {
      try_to([&] {
        UnwrappedBatchType data = read_chunks(chunks);
        if (preprocessing_policy_) preprocessing_policy_(data);
        if (!data.empty()) batch_buffer_->add_chunk_data(std::move(data));
      });
    }
    // The last one: nothing comes any more.
    if (--running_preloaders_ == 0) batch_buffer_->stop();
  }

  /// Whether `f` returns; what it throws goes to the buffer.
  template <class F>
  bool try_to(const F& f) {
    std::exception_ptr exception;
    try {
      f();
    } catch (...) {
      exception = std::current_exception();
    }
    if (!exception) return true;
    batch_buffer_->add_chunk_data(std::move(exception));
    return false;
  }

  /// Empty at the end of the epoch.
  std::vector<size_t> next_chunks() {
    const std::lock_guard lock(sampler_mutex_);
    return chunk_sampler_.next(options_.cross_chunk_shuffle_count())
        .value_or(std::vector<size_t>());
  }

  UnwrappedBatchType read_chunks(const std::vector<size_t>& chunks) {
    UnwrappedBatchType data = chunk_reader_.read_chunk(chunks[0]);
    for (size_t i = 1; i < chunks.size(); ++i) {
      UnwrappedBatchType more = chunk_reader_.read_chunk(chunks[i]);
      std::move(more.begin(), more.end(), std::back_inserter(data));
    }
    return data;
  }

  void end_preloaders() {
    quit_ = true;
    if (batch_buffer_) batch_buffer_->stop();
    for (std::thread& preloader : preloaders_) preloader.join();
    preloaders_.clear();
  }

  ChunkReader chunk_reader_;
  ChunkSamplerType chunk_sampler_;
  ExampleSamplerType example_sampler_;
  const ChunkDatasetOptions options_;
  const std::function<void(UnwrappedBatchType&)> preprocessing_policy_;

  std::unique_ptr<Buffer> batch_buffer_;
  std::vector<std::thread> preloaders_;
  std::atomic<bool> quit_ = false;
  std::atomic<size_t> running_preloaders_ = 0;
  mutable std::mutex sampler_mutex_;
  bool in_loaded_epoch_ = false;
};

}  // namespace tenon::data::datasets

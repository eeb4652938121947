#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/data/batch_iterator.h"
#include "runtime/data/data_loader_options.h"
#include "runtime/data/detail/data_shuttle.h"
#include "runtime/data/detail/sequencers.h"
#include "runtime/data/worker_exception.h"

namespace tenon::data {

/// Base of the loaders: gives the batches of a data set, one epoch for each loop.
///     for (auto& batch : *loader) ...
/// With workers, `max_jobs` requests are always on their way; each batch that is taken makes room
/// for one more. An exception of a worker comes out of the iterator as a WorkerException; the
/// batches after it can still be taken, by incrementing again.
template <class Dataset, class Batch, class BatchRequest>
class DataLoaderBase {
 public:
  using BatchType = Batch;
  using BatchRequestType = BatchRequest;

  /// ValueError for a batch size of 0, and for workers without a job.
  DataLoaderBase(DataLoaderOptions options, std::unique_ptr<Dataset> main_thread_dataset = nullptr)
      : options_(options), main_thread_dataset_(std::move(main_thread_dataset)),
        sequencer_(new_sequencer()) {
    TENON_CHECK_VALUE(options_.batch_size > 0, "[DataLoader] batch_size must be positive, got 0");
    TENON_CHECK_VALUE(options_.workers == 0 || options_.max_jobs > 0,
                      "[DataLoader] max_jobs must be positive with ", options_.workers,
                      " workers, got 0");
  }
  DataLoaderBase(const DataLoaderBase&) = delete;
  DataLoaderBase& operator=(const DataLoaderBase&) = delete;

  /// Waits for the batches that workers load, and for the workers.
  virtual ~DataLoaderBase() { join(); }

  /// Begins an epoch, from its batch `first_batch` on: the batches before are not loaded if the
  /// data set has a sampler, and are dropped otherwise. Error if an epoch with workers is not at
  /// its end, ValueError if there are fewer batches.
  Iterator<Batch> begin(size_t first_batch = 0) {
    check_not_joined();
    TENON_CHECK(
        shuttle_.in_flight_jobs() == 0,
        "Attempted to get a new DataLoader iterator while another iterator is not yet exhausted");
    reset();
    for (size_t i = 0; i < first_batch; ++i) {
      TENON_CHECK_VALUE(skip_batch(), "[DataLoader] there are ", i, " batches, got ", first_batch,
                        " as the first");
    }
    prefetch();
    return Iterator<Batch>([this] { return next(); });
  }
  Iterator<Batch> end() { return Iterator<Batch>(); }

  /// Ends the workers, after which begin() and the iterators throw. Called from the thread that
  /// uses the loader.
  void join() {
    if (joined_) return;
    shuttle_.drain();
    for (size_t i = 0; i < workers_.size(); ++i) shuttle_.push_job(Job());
    for (std::thread& worker : workers_) worker.join();
    joined_ = true;
  }

  const FullDataLoaderOptions& options() const noexcept { return options_; }

 protected:
  /// A request, or nothing, at which the worker ends.
  struct Job {
    std::optional<BatchRequest> batch_request;
    size_t sequence_number = 0;
  };

  /// A batch, an exception, or neither at the end of a stateful data set's epoch.
  struct Result {
    std::optional<Batch> batch;
    std::exception_ptr exception;
    size_t sequence_number = 0;
  };

  /// The next request; nothing at the end of the epoch.
  virtual std::optional<BatchRequestType> get_batch_request() = 0;

  /// Passes over a batch; false at the end of the epoch.
  virtual bool skip_batch() = 0;

  /// Begins an epoch.
  virtual void reset() {
    shuttle_.drain();
    sequence_number_ = 0;
    sequencer_ = new_sequencer();
  }

  /// Starts a worker. Called by the constructors of derived classes. The worker uses nothing of
  /// them, as they are destroyed before it ends.
  void start_worker(Dataset& dataset) {
    workers_.emplace_back([this, &dataset] { run_worker(dataset); });
  }
  /// Starts a worker with a data set of its own.
  void start_worker_with_copy(const Dataset& dataset) {
    workers_.emplace_back([this, copy = dataset]() mutable { run_worker(copy); });
  }

  const FullDataLoaderOptions options_;

  /// What is loaded from without workers, and what workers share if it is stateful.
  std::unique_ptr<Dataset> main_thread_dataset_;

 private:
  void check_not_joined() const {
    TENON_CHECK(!joined_ || options_.workers == 0, "[DataLoader] join() has ended the workers");
  }

  void prefetch() {
    if (options_.workers == 0) return;
    while (shuttle_.in_flight_jobs() < options_.max_jobs && push_request()) {
    }
  }

  /// Whether there was one.
  bool push_request() {
    std::optional<BatchRequest> request = get_batch_request();
    if (!request) return false;
    shuttle_.push_job(Job{std::move(request), sequence_number_++});
    return true;
  }

  /// The next batch, or nothing at the end of the epoch.
  std::optional<Batch> next() {
    if (options_.workers == 0) {
      std::optional<BatchRequest> request = get_batch_request();
      if (!request) return std::nullopt;
      return main_thread_dataset_->get_batch(std::move(*request));
    }
    check_not_joined();
    while (std::optional<Result> result =
               sequencer_->next([this] { return shuttle_.pop_result(options_.timeout); })) {
      // The end of a stateful data set's epoch makes no room for more.
      if (result->exception || result->batch) push_request();
      if (result->exception) throw WorkerException(result->exception);
      if (result->batch) return std::move(result->batch);
    }
    return std::nullopt;
  }

  void run_worker(Dataset& dataset) {
    for (Job job = shuttle_.pop_job(); job.batch_request; job = shuttle_.pop_job()) {
      Result result;
      result.sequence_number = job.sequence_number;
      try {
        result.batch = dataset.get_batch(std::move(*job.batch_request));
      } catch (...) {
        result.exception = std::current_exception();
      }
      shuttle_.push_result(std::move(result));
    }
  }

  std::unique_ptr<detail::sequencers::Sequencer<Result>> new_sequencer() {
    if (options_.enforce_ordering)
      return std::make_unique<detail::sequencers::OrderedSequencer<Result>>(options_.max_jobs);
    return std::make_unique<detail::sequencers::NoSequencer<Result>>();
  }

  size_t sequence_number_ = 0;
  std::vector<std::thread> workers_;
  detail::DataShuttle<Job, Result> shuttle_;
  std::unique_ptr<detail::sequencers::Sequencer<Result>> sequencer_;
  bool joined_ = false;
};

}  // namespace tenon::data

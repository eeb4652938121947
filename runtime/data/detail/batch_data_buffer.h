#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "aten/core/error.h"
#include "runtime/data/worker_exception.h"

namespace tenon::data::datasets::detail {

/// Examples between the threads that read chunks and those that take batches. A chunk is sampled
/// and divided into batches when it is added; the last batch is filled up by the chunk after it.
template <class UnwrappedBatch, class ExampleSampler>
class BatchDataBuffer {
 public:
  using UnwrappedBatchType = UnwrappedBatch;
  using BatchType = std::optional<UnwrappedBatchType>;

  /// Holds `queue_capacity` examples, and what the last chunk added to them has beyond that.
  BatchDataBuffer(size_t batch_size, ExampleSampler& example_sampler, size_t queue_capacity)
      : batch_size_(batch_size), example_sampler_(example_sampler),
        queue_capacity_(queue_capacity) {}

  /// Waits for a batch; nothing if the buffer has stopped and is empty. WorkerException for an
  /// exception that was added.
  BatchType get_batch() {
    std::unique_lock lock(mutex_);
    can_read_.wait(lock, [this] {
      return stopped_ || example_count_ >= batch_size_ ||
             (!queue_.empty() && queue_.front().exception);
    });
    if (queue_.empty()) return std::nullopt;
    Entry entry = std::move(queue_.front());
    queue_.pop_front();
    example_count_ -= entry.batch.size();
    lock.unlock();
    can_write_.notify_all();
    if (entry.exception) throw WorkerException(entry.exception);
    return std::move(entry.batch);
  }

  /// Waits for room and adds a chunk. Does nothing once the buffer has stopped.
  void add_chunk_data(UnwrappedBatchType data) {
    {
      std::unique_lock lock(mutex_);
      if (!wait_for_room(lock)) return;
      example_sampler_.reset(data.size());
      size_t left = data.size();
      while (left > 0) {
        if (queue_.empty() || queue_.back().exception ||
            queue_.back().batch.size() >= batch_size_) {
          queue_.emplace_back();
          queue_.back().batch.reserve(batch_size_);
        }
        UnwrappedBatchType& batch = queue_.back().batch;
        const size_t count = std::min(left, batch_size_ - batch.size());
        const auto indices = example_sampler_.next(count);
        TENON_CHECK(indices && indices->size() == count,
                    "[ChunkDataset] the example sampler must give ", count, " indices, got ",
                    indices ? indices->size() : 0);
        for (const size_t index : *indices) {
          TENON_CHECK_INDEX(index < data.size(), "[ChunkDataset] the example sampler gives index ",
                            index, " in a chunk of ", data.size(), " examples");
          batch.emplace_back(std::move(data[index]));
          ++example_count_;
        }
        left -= count;
      }
    }
    can_read_.notify_all();
  }

  /// Waits for room and adds an exception, which get_batch() throws in its turn.
  void add_chunk_data(std::exception_ptr exception) {
    {
      std::unique_lock lock(mutex_);
      if (!wait_for_room(lock)) return;
      queue_.emplace_back();
      queue_.back().exception = std::move(exception);
    }
    can_read_.notify_all();
  }

  /// Nothing is added from now on, and nobody waits any longer.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    can_write_.notify_all();
    can_read_.notify_all();
  }

 private:
  struct Entry {
    UnwrappedBatchType batch;
    std::exception_ptr exception;
  };

  bool wait_for_room(std::unique_lock<std::mutex>& lock) {
    can_write_.wait(lock, [this] { return stopped_ || example_count_ < queue_capacity_; });
    return !stopped_;
  }

  const size_t batch_size_;
  ExampleSampler& example_sampler_;
  const size_t queue_capacity_;

  std::mutex mutex_;
  std::condition_variable can_read_, can_write_;
  std::deque<Entry> queue_;
  size_t example_count_ = 0;  ///< in all entries
  bool stopped_ = false;
};

}  // namespace tenon::data::datasets::detail

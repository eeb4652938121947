#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <queue>
#include <utility>

#include "aten/core/error.h"

namespace tenon::data::detail {

/// A queue between threads; any of them may push and pop.
template <class T>
class Queue {
 public:
  void push(T value) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push(std::move(value));
    }
    pushed_.notify_one();
  }

  /// Waits until there is a value and takes it. Error "Timeout in DataLoader queue ..." after
  /// `timeout`.
  T pop(std::optional<std::chrono::milliseconds> timeout = std::nullopt) {
    std::unique_lock lock(mutex_);
    const auto has_value = [this] { return !queue_.empty(); };
    if (timeout) {
      TENON_CHECK(pushed_.wait_for(lock, *timeout, has_value),
                  "Timeout in DataLoader queue while waiting for next batch (timeout was ",
                  timeout->count(), " ms)");
    } else {
      pushed_.wait(lock, has_value);
    }
    T value = std::move(queue_.front());
    queue_.pop();
    return value;
  }

  /// Removes all values and returns how many there were.
  size_t clear() {
    std::queue<T> removed;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    removed.swap(queue_);
    return removed.size();
  }

 private:
  std::queue<T> queue_;
  std::mutex mutex_;
  std::condition_variable pushed_;
};

}  // namespace tenon::data::detail

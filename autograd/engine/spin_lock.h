#pragma once

#include <atomic>
#include <thread>

namespace tenon::autograd {

/// A lock of one byte that is held for a few instructions only; for std::lock_guard.
class SpinLock {
 public:
  void lock() noexcept {
    while (flag_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { flag_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> flag_{false};
};

}  // namespace tenon::autograd

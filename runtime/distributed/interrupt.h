#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "aten/core/macros.h"

namespace tenon::distributed::detail {

/// Ends waits from outside, as Python's Ctrl-C does, which is noticed between its instructions
/// only: what waits calls `check` every kInterruptSlice, on the waiting thread and without a lock;
/// what that throws ends the wait. Collectives then run on a thread of their group, so that they
/// go on when somebody stops to wait for them. Null: none.
TENON_API void set_interrupt_check(void (*check)());
TENON_API bool has_interrupt_check();
TENON_API void check_interrupt();

inline constexpr std::chrono::milliseconds kInterruptSlice{100};

/// Waits until ready(): false if the deadline passes first.
template <class Ready>
bool wait_until(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                std::chrono::steady_clock::time_point deadline, Ready&& ready) {
  while (!ready()) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= deadline) return false;
    changed.wait_for(
        lock, std::min<std::chrono::steady_clock::duration>(deadline - now, kInterruptSlice));
    if (ready()) return true;
    lock.unlock();
    check_interrupt();
    lock.lock();
  }
  return true;
}

}  // namespace tenon::distributed::detail

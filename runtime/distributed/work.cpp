#include "runtime/distributed/work.h"

#include "runtime/distributed/interrupt.h"

namespace tenon::distributed {

bool Work::is_completed() {
  const std::lock_guard lock(mutex_);
  return done_;
}

bool Work::is_success() {
  const std::lock_guard lock(mutex_);
  return done_ && !error_;
}

void Work::wait(Milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex_);
  const auto deadline =
      timeout == Milliseconds::max() ? Clock::time_point::max() : Clock::now() + timeout;
  TENON_CHECK_AS(DistBackendError,
                 detail::wait_until(changed_, lock, deadline, [&] { return done_; }),
                 "[Work] not done after ", timeout.count(), " ms");
  if (error_) std::rethrow_exception(error_);
}

void Work::wait_until_done() {
  std::unique_lock lock(mutex_);
  detail::wait_until(changed_, lock, std::chrono::steady_clock::time_point::max(),
                     [&] { return done_; });
}

std::exception_ptr Work::exception() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

void Work::then(std::function<void()> f) {
  {
    const std::lock_guard lock(mutex_);
    if (!done_) {
      callbacks_.push_back(std::move(f));
      return;
    }
  }
  f();
}

void Work::finish(std::exception_ptr error) {
  std::vector<std::function<void()>> callbacks;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
    error_ = std::move(error);
    callbacks.swap(callbacks_);
    changed_.notify_all();
  }
  for (const auto& f : callbacks) f();
}

}  // namespace tenon::distributed

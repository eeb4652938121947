#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/distributed/stores/store.h"

namespace tenon::distributed {

/// A collective that has begun. Its tensors must stay as they are until it is done.
class TENON_API Work {
 public:
  virtual ~Work() = default;
  /// Whether it is done, well or not.
  virtual bool is_completed();
  /// Whether it is done and went well.
  bool is_success();
  /// Returns when it is done; throws its error. DistBackendError if a timeout is given and passes
  /// first.
  virtual void wait(Milliseconds timeout = Milliseconds::max());
  /// Returns when it is done, well or not.
  void wait_until_done();
  /// The error of one that is done; null if it went well.
  std::exception_ptr exception() const;
  /// Calls f when it is done: at once if it is already, otherwise on the thread that does it.
  void then(std::function<void()> f);
  /// Of recv: the rank that the message came from.
  virtual int source_rank() const { return -1; }

  /// For backends: it is done.
  void finish(std::exception_ptr error);

 protected:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::exception_ptr error_;
  std::vector<std::function<void()>> callbacks_;
};
using WorkPtr = std::shared_ptr<Work>;

}  // namespace tenon::distributed

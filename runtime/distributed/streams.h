#pragma once

#include <memory>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::distributed::detail {

/// An event in the calling thread's current stream of each GPU that some tensors are on. Tensors on
/// other devices need none, because their operators finish before they return.
class TENON_API Mark {
 public:
  Mark() = default;
  /// Records the events.
  explicit Mark(const std::vector<Tensor>& tensors);
  /// Records them again, for the same GPUs.
  void set();
  /// The calling thread's current streams wait for the events.
  void wait() const;
  /// The host waits for the events.
  void synchronize() const;

 private:
  struct Event;
  std::vector<std::shared_ptr<Event>> events_;
};

/// Orders the uses of a GPU's memory in several streams.
class TENON_API StreamOrdering {
 public:
  /// The current stream waits for the stream of the last call. The allocator does not reuse t's
  /// memory before the current stream is done with it.
  void use(const Tensor& t);

 private:
  bool used_ = false;
  void* stream_ = nullptr;
};

/// The allocator does not reuse t's memory before the GPU's current stream has finished its work of
/// the time when t is freed.
TENON_API void keep_for_current_stream(const Tensor& t);

}  // namespace tenon::distributed::detail

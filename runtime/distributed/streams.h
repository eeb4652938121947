#pragma once

#include <memory>
#include <vector>

#include "tenon/tensor.h"

namespace tenon::distributed::detail {

/// A place in the queues of the calling thread's current streams, one for each GPU that some
/// tensors are on. For other devices, which work while they are asked, there is none.
class TENON_API Mark {
 public:
  Mark() = default;
  /// Marks what the current streams hold now.
  explicit Mark(const std::vector<Tensor>& tensors);
  /// The same again, for the same GPUs.
  void set();
  /// What the calling thread's current streams get from now on comes after the mark.
  void wait() const;
  /// Waits until the GPUs have come to the mark.
  void synchronize() const;

 private:
  struct Event;
  std::vector<std::shared_ptr<Event>> events_;
};

/// Memory on a GPU that is used in one stream after another.
class TENON_API UsedInTurn {
 public:
  /// What the current stream gets from now on comes after what the stream of the last call has got
  /// by now, and t's memory is not given away before that is done.
  void here(const Tensor& t);

 private:
  bool used_ = false;
  void* stream_ = nullptr;
};

/// t's memory is not given away before its GPU's current stream has done what it holds when t goes.
TENON_API void keep_for_current_stream(const Tensor& t);

}  // namespace tenon::distributed::detail

#pragma once

#include <cstddef>
#include <vector>

#include "runtime/distributed/backends/reduce_op.h"
#include "runtime/distributed/socket.h"

namespace tenon::distributed::detail {

/// Moves the data of a collective that all ranks have agreed upon: no size is ever wrong here.
/// Calls throw std::exception if the transfer breaks; nothing can be transferred after that.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void broadcast(void* data, size_t bytes, int root, Deadline deadline) = 0;
  /// Bitwise the same on all ranks. AVG adds.
  virtual void all_reduce(void* data, size_t n, ScalarType dtype, ReduceOp op,
                          Deadline deadline) = 0;
  /// `out` gets sizes[r] bytes of each rank, one after another.
  virtual void all_gather(const void* in, void* out, const std::vector<size_t>& sizes,
                          Deadline deadline) = 0;
  /// Rank r gets in_sizes[r] bytes from `in`, whose parts lie one after another, as those of `out`.
  virtual void all_to_all(const void* in, const std::vector<size_t>& in_sizes, void* out,
                          const std::vector<size_t>& out_sizes, Deadline deadline) = 0;
  /// Wakes who is in a call, from another thread.
  virtual void abort() = 0;
};

}  // namespace tenon::distributed::detail

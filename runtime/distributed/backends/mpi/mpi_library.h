#pragma once

#include <mpi.h>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/distributed/socket.h"

namespace tenon::distributed::detail {

/// MPI in this process: initialised when first asked for, unless the program has done so, and
/// finalised at the end of the program by who initialised it.
class MpiLibrary {
 public:
  /// DistBackendError if MPI cannot be used: finalised already, or not to be called by several
  /// threads at once (MPI_THREAD_MULTIPLE).
  static MpiLibrary& get();

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// Whether all processes are on one machine.
  bool is_one_machine() const { return one_machine_; }

  /// std::runtime_error with MPI's text for a code that says that a call failed.
  static void check(int code);
  /// Starts a transfer and returns when it is done. `memory` is what it reads and writes. When
  /// `aborted` or the deadline comes first, std::runtime_error; MPI has no way to end a transfer
  /// that others have joined, so that its memory is kept for it.
  void transfer(const std::function<int(MPI_Request*)>& start,
                const std::vector<std::shared_ptr<void>>& memory,
                const std::function<bool()>& aborted, Deadline deadline);

  MpiLibrary(const MpiLibrary&) = delete;
  MpiLibrary& operator=(const MpiLibrary&) = delete;

 private:
  MpiLibrary();
  ~MpiLibrary();

  bool own_ = false;  // initialised here
  std::mutex mutex_;
  std::vector<std::shared_ptr<void>> kept_;  // memory of transfers that have not ended
  int rank_ = 0, size_ = 1;
  bool one_machine_ = true;
};

}  // namespace tenon::distributed::detail

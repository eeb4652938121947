#pragma once

#include <nccl.h>

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

#include "aten/cuda/stream.h"
#include "runtime/distributed/socket.h"
#include "runtime/distributed/work.h"

namespace tenon::distributed::detail {

/// A collective on a GPU. It is done, for the host, when it is in the communicator's stream;
/// wait() lets the current stream of that GPU wait for it, and not the host.
class GpuWork final : public Work {
 public:
  explicit GpuWork(DeviceIndex device) : device_(device) {}
  /// Whether the GPU has done it, or it has failed.
  bool is_completed() override;
  void wait(Milliseconds timeout) override;

  /// Marks the end of what is in the stream.
  void record(cuda::Stream stream);
  bool has_ended() const { return end_.query(); }

 private:
  const DeviceIndex device_;
  cuda::Event end_;
};

/// What NCCL needs of the group: how it fails, and whether it has.
struct GroupHealth {
  std::function<void(const std::string& what)> throw_if_failed;
  std::function<bool()> has_failed;
  std::function<void(const std::string& text)> fail;
};

/// NCCL's communicator of one group on one GPU, and its stream. A thread watches what is under way:
/// an error of NCCL or a collective that takes longer than its time fails the group, and a failed
/// group ends what its GPUs do for it.
class Communicator {
 public:
  /// All ranks at once. DistBackendError if that fails, or the group does.
  Communicator(const ncclUniqueId& id, int rank, int size, DeviceIndex device, GroupHealth health,
               Deadline deadline);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  DeviceIndex device() const { return stream_.device_index(); }
  cuda::Stream stream() const { return stream_; }
  /// Puts into the stream what `f` starts, after `start`, and then `after`, if there is any, which
  /// uses the current stream.
  void launch(const std::string& what, const std::shared_ptr<GpuWork>& work,
              const cuda::Event& start, Deadline deadline,
              const std::function<ncclResult_t(ncclComm_t, cuda::Stream)>& f,
              const std::function<void()>& after);

 private:
  /// A call that has been accepted may not have been carried out yet.
  void settle(const std::string& what, ncclResult_t result, Deadline deadline);
  void watch();
  void abort();

  const GroupHealth health_;
  const cuda::Stream stream_;
  std::mutex mutex_;
  ncclComm_t communicator_ = nullptr;  // null once aborted
  struct Pending {
    std::string what;
    std::shared_ptr<GpuWork> work;
    Deadline deadline;
  };
  std::list<Pending> pending_;
  bool stopping_ = false;
  std::condition_variable changed_;
  std::thread thread_;
};

}  // namespace tenon::distributed::detail

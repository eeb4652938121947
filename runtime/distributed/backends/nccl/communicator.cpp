#include "runtime/distributed/backends/nccl/communicator.h"

#include "aten/cuda/cuda_device.h"
#include "runtime/distributed/error.h"

namespace tenon::distributed::detail {
namespace {

constexpr auto kLook = std::chrono::milliseconds(50);
constexpr auto kNap = std::chrono::microseconds(100);

[[noreturn]] void raise_nccl(const std::string& what, ncclResult_t result) {
  raise<DistBackendError>("[", what, "] NCCL: ", ncclGetErrorString(result));
}

}  // namespace

bool GpuWork::is_completed() { return Work::is_completed() && (exception() || has_ended()); }

void GpuWork::wait(Milliseconds timeout) {
  Work::wait(timeout);
  end_.wait(cuda::current_stream(device_));
}

void GpuWork::record(cuda::Stream stream) { end_.record(stream); }

Communicator::Communicator(const ncclUniqueId& id, int rank, int size, DeviceIndex device,
                           GroupHealth health, Deadline deadline)
    : health_(std::move(health)), stream_(cuda::stream_from_pool(true, device)) {
  const cuda::CUDAGuard guard(device);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;  // so that a rank that does not come, or fails, is no reason to hang
  const ncclResult_t result = ncclCommInitRankConfig(&communicator_, size, id, rank, &config);
  try {
    settle("nccl", result, deadline);
  } catch (...) {
    abort();
    throw;
  }
  thread_ = std::thread([this] { watch(); });
}

Communicator::~Communicator() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
  if (!communicator_) return;
  const cuda::CUDAGuard guard(device());
  // What is under way comes to its end, if the others' part does.
  while (!pending_.empty() && !health_.has_failed() && Clock::now() < pending_.front().deadline) {
    if (pending_.front().work->has_ended()) {
      pending_.pop_front();
    } else {
      std::this_thread::sleep_for(kNap);
    }
  }
  if (pending_.empty() && !health_.has_failed()) {
    ncclCommDestroy(communicator_);
  } else {
    ncclCommAbort(communicator_);
  }
}

void Communicator::settle(const std::string& what, ncclResult_t result, Deadline deadline) {
  while (result == ncclInProgress) {
    health_.throw_if_failed(what);
    TENON_CHECK_AS(DistBackendError, Clock::now() < deadline, "[", what,
                   "] NCCL has not begun in time");
    std::this_thread::sleep_for(kNap);
    const ncclResult_t asked = ncclCommGetAsyncError(communicator_, &result);
    if (asked != ncclSuccess) raise_nccl(what, asked);
  }
  if (result != ncclSuccess) raise_nccl(what, result);
}

void Communicator::launch(const std::string& what, const std::shared_ptr<GpuWork>& work,
                          const cuda::Event& start, Deadline deadline,
                          const std::function<ncclResult_t(ncclComm_t, cuda::Stream)>& f,
                          const std::function<void()>& after) {
  const cuda::StreamGuard guard(stream_);
  start.wait(stream_);
  const std::lock_guard lock(mutex_);
  if (!communicator_) health_.throw_if_failed(what);
  try {
    settle(what, f(communicator_, stream_), deadline);
  } catch (const std::exception& error) {
    health_.fail(error.what());  // others are in the middle of it
    throw;
  }
  if (after) after();
  work->record(stream_);
  pending_.push_back({what, work, deadline});
}

void Communicator::watch() {
  cuda::set_device(device());
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    changed_.wait_for(lock, kLook);
    std::erase_if(pending_, [](const Pending& one) { return one.work->has_ended(); });
    if (health_.has_failed()) {
      abort();
      return;
    }
    ncclResult_t result = ncclSuccess;
    ncclCommGetAsyncError(communicator_, &result);
    std::string failure;
    if (result != ncclSuccess && result != ncclInProgress) {
      failure = concat("[nccl] NCCL: ", ncclGetErrorString(result));
    } else if (!pending_.empty() && Clock::now() >= pending_.front().deadline) {
      failure = concat("[", pending_.front().what, "] not done in time on ", stream_.device());
    }
    if (failure.empty()) continue;
    lock.unlock();
    health_.fail(failure);
    lock.lock();
  }
}

void Communicator::abort() {
  if (communicator_) ncclCommAbort(communicator_);
  communicator_ = nullptr;
  pending_.clear();
}

}  // namespace tenon::distributed::detail

#include "aten/cuda/stream.h"

#include <array>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "aten/cuda/cuda_device.h"
#include "aten/cuda/cuda_error.h"

namespace tenon::cuda {
namespace {

constexpr int kPoolSize = 32;

/// Streams of one GPU and priority, made when first asked for.
struct Pool {
  std::once_flag once;
  std::array<cudaStream_t, kPoolSize> streams{};
  std::atomic<unsigned> next{0};

  void fill(DeviceIndex device, bool high_priority) {
    const CUDAGuard guard(device);
    int least = 0, greatest = 0;
    TENON_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    for (cudaStream_t& stream : streams) {
      TENON_CUDA_CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                                    high_priority ? greatest : least));
    }
  }
};

DeviceIndex index_or_current(DeviceIndex device) { return device >= 0 ? device : current_device(); }

/// The current stream of each GPU; null, the default stream, beyond the end.
std::vector<CUstream_st*>& current_streams() {
  static thread_local std::vector<CUstream_st*> streams;
  return streams;
}

}  // namespace

void Stream::synchronize() const {
  const CUDAGuard guard(device_);
  TENON_CUDA_CHECK(cudaStreamSynchronize(handle_));
}

bool Stream::query() const {
  const CUDAGuard guard(device_);
  const cudaError_t status = cudaStreamQuery(handle_);
  if (status == cudaErrorNotReady) return false;
  TENON_CUDA_CHECK(status);
  return true;
}

Stream current_stream(DeviceIndex device) {
  const DeviceIndex index = index_or_current(device);
  const auto& streams = current_streams();
  return {index, static_cast<size_t>(index) < streams.size() ? streams[static_cast<size_t>(index)]
                                                             : nullptr};
}

Stream default_stream(DeviceIndex device) { return {index_or_current(device), nullptr}; }

void set_current_stream(Stream stream) {
  auto& streams = current_streams();
  const auto at = static_cast<size_t>(stream.device_index());
  if (streams.size() <= at) streams.resize(at + 1, nullptr);
  streams[at] = stream.handle();
}

Stream stream_from_pool(bool high_priority, DeviceIndex device) {
  static auto* pools = new std::vector<std::array<Pool, 2>>(static_cast<size_t>(device_count()));
  const DeviceIndex index = index_or_current(device);
  TENON_CHECK_INDEX(index < device_count(), "[cuda] device ", int{index}, " does not exist");
  Pool& pool = (*pools)[static_cast<size_t>(index)][high_priority];
  std::call_once(pool.once, [&] { pool.fill(index, high_priority); });
  return {index, pool.streams[pool.next.fetch_add(1, std::memory_order_relaxed) % kPoolSize]};
}

StreamGuard::StreamGuard(Stream stream)
    : previous_device_(current_device()), previous_stream_(current_stream(stream.device_index())) {
  if (stream.device_index() != previous_device_) set_device(stream.device_index());
  set_current_stream(stream);
}

StreamGuard::~StreamGuard() {
  set_current_stream(previous_stream_);
  cudaSetDevice(previous_device_);  // cannot fail for a device that was current before
}

Event::~Event() {
  if (event_)
    cudaEventDestroy(event_);  // at the end of the program there may be nothing to report to
}

Event::Event(Event&& other) noexcept
    : event_(std::exchange(other.event_, nullptr)), device_(other.device_), timing_(other.timing_) {
}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(event_, other.event_);
  std::swap(device_, other.device_);
  std::swap(timing_, other.timing_);
  return *this;
}

void Event::record(Stream stream) {
  const CUDAGuard guard(stream.device_index());
  if (event_ && device_ != stream.device_index()) {
    TENON_CUDA_CHECK(cudaEventDestroy(std::exchange(event_, nullptr)));
  }
  if (!event_) {
    TENON_CUDA_CHECK(
        cudaEventCreateWithFlags(&event_, timing_ ? cudaEventDefault : cudaEventDisableTiming));
    device_ = stream.device_index();
  }
  TENON_CUDA_CHECK(cudaEventRecord(event_, stream));
}

void Event::wait(Stream stream) const {
  if (!event_) return;
  const CUDAGuard guard(stream.device_index());
  TENON_CUDA_CHECK(cudaStreamWaitEvent(stream, event_, 0));
}

bool Event::query() const {
  if (!event_) return true;
  const cudaError_t status = cudaEventQuery(event_);
  if (status == cudaErrorNotReady) return false;
  TENON_CUDA_CHECK(status);
  return true;
}

void Event::synchronize() const {
  if (event_) TENON_CUDA_CHECK(cudaEventSynchronize(event_));
}

float Event::elapsed_time(const Event& end) const {
  TENON_CHECK(event_ && end.event_, "[cuda] elapsed_time needs two recorded events");
  float milliseconds = 0;
  TENON_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, event_, end.event_));
  return milliseconds;
}

}  // namespace tenon::cuda

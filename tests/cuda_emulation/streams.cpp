// Streams and events. Work waits until the host asks for a result, and runs in an order that the
// dependencies allow and a program without them does not expect.
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "tests/cuda_emulation/emulator.h"

struct CUstream_st {
  struct Item {
    std::function<void()> work;
    cudaStream_t other = nullptr;  ///< if set, the work is to wait for `other` to get to `position`
    uint64_t position = 0;
  };
  int device = 0;
  std::deque<Item> queue;
  uint64_t submitted = 0, done = 0;
};

struct CUevent_st {
  cudaStream_t stream = nullptr;  ///< null: not recorded
  uint64_t position = 0;
  bool timing = false;
};

namespace cuda_emulation {
namespace {

thread_local int device_of_thread = 0;
thread_local cudaError_t last_error = cudaSuccess;
cudaError_t context_error = cudaSuccess;  // after a trap every call fails

std::vector<cudaStream_t>& streams() {
  static auto* all = new std::vector<cudaStream_t>;
  return *all;
}

cudaStream_t new_stream(int device) {
  auto* stream = new CUstream_st;
  stream->device = device;
  streams().push_back(stream);
  return stream;
}

cudaStream_t resolve(cudaStream_t stream) {
  return stream ? stream : default_stream(device_of_thread);
}

/// Whether the stream has work that waits for nothing.
bool can_go_on(cudaStream_t s) {
  return !s->queue.empty() &&
         (!s->queue.front().other || s->queue.front().other->done >= s->queue.front().position);
}

void finish(cudaStream_t s, uint64_t position);

void run_next(cudaStream_t s) {
  CUstream_st::Item item = std::move(s->queue.front());
  if (item.other) finish(item.other, item.position);
  s->queue.pop_front();
  if (item.work) item.work();
  ++s->done;
}

/// No more than what the position needs.
void finish(cudaStream_t s, uint64_t position) {
  while (s->done < position) run_next(s);
}

/// Others first, half of the time: what does not depend on the stream may run before its work as
/// well as long after.
void let_others_run(cudaStream_t s) {
  if (random() % 2 == 0) return;
  for (;;) {
    std::vector<cudaStream_t> others;
    for (cudaStream_t other : streams()) {
      if (other != s && can_go_on(other)) others.push_back(other);
    }
    if (others.empty()) return;
    run_next(others[random() % others.size()]);
  }
}

void synchronize(cudaStream_t s, uint64_t position) {
  if (s->done >= position) return;
  const Unprotected scope;
  let_others_run(s);
  finish(s, position);
}

cudaError_t failed(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace

cudaStream_t default_stream(int device) {
  static auto* all = new std::array<cudaStream_t, kDevices>{};
  cudaStream_t& own = (*all)[static_cast<size_t>(device)];
  if (!own) own = new_stream(device);
  return own;
}
int current_device() { return device_of_thread; }
int device_of(cudaStream_t stream) { return resolve(stream)->device; }

void submit(cudaStream_t stream, std::function<void()> work) {
  const std::lock_guard lock(mutex());
  cudaStream_t s = resolve(stream);
  s->queue.push_back({std::move(work), nullptr, 0});
  ++s->submitted;
}

void finish_device(int device) {
  const std::lock_guard lock(mutex());
  std::vector<cudaStream_t> of_device;
  for (cudaStream_t s : streams()) {
    if (s->device == device) of_device.push_back(s);
  }
  for (size_t i = of_device.size(); i > 0; --i) {
    std::swap(of_device[i - 1], of_device[random() % i]);
    synchronize(of_device[i - 1], of_device[i - 1]->submitted);
  }
}

cudaError_t enqueue(const Launch& launch, cudaStream_t stream) {
  const std::lock_guard lock(mutex());
  const std::shared_ptr<const void> parameters(launch.parameters, launch.release);
  if (context_error != cudaSuccess) return failed(context_error);
  cudaStream_t s = resolve(stream);
  const dim3 &g = launch.grid, &b = launch.block;
  const uint64_t threads = uint64_t{b.x} * b.y * b.z;
  if (threads == 0 || threads > 1024 || b.z > 64 || g.x == 0 || g.y == 0 || g.z == 0 ||
      g.x > 0x7fffffff || g.y > 65535 || g.z > 65535) {
    return failed(cudaErrorInvalidConfiguration);
  }
  if (launch.shared_bytes > 48 * 1024) return failed(cudaErrorInvalidValue);
  if (s->device != device_of_thread) return failed(cudaErrorInvalidValue);
  submit(s, [launch, parameters, device = s->device] {
    if (!run_kernel(launch, device)) context_error = cudaErrorLaunchFailure;
  });
  return cudaSuccess;
}

}  // namespace cuda_emulation

using namespace cuda_emulation;

extern "C" {

cudaError_t cudaGetLastError() {
  const std::lock_guard lock(mutex());
  return context_error != cudaSuccess ? context_error : std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = kDevices;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = device_of_thread;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= kDevices) return failed(cudaErrorInvalidDevice);
  device_of_thread = device;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int device) {
  if (device < 0 || device >= kDevices) return failed(cudaErrorInvalidDevice);
  switch (what) {
  case cudaDevAttrMaxSharedMemoryPerBlock: *value = 48 * 1024; break;
  // Few, so that small tensors already fill the device and kernels stride over the grid.
  case cudaDevAttrMultiProcessorCount: *value = 2; break;
  case cudaDevAttrMaxThreadsPerMultiProcessor: *value = 1024; break;
  case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
  case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
  default: return failed(cudaErrorInvalidValue);
  }
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= kDevices) return failed(cudaErrorInvalidDevice);
  std::strcpy(properties->name, "emulated");
  properties->totalGlobalMem = kArenaBytes;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  const std::lock_guard lock(mutex());
  finish_device(device_of_thread);
  return failed(context_error);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const std::lock_guard lock(mutex());
  if (context_error != cudaSuccess) return failed(context_error);
  const int device = device_of(stream);
  const bool reads_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const bool writes_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  if ((!reads_device && device_of(from) >= 0) || (!writes_device && device_of(to) >= 0))
    fail("cudaMemcpyAsync: device memory where the kind of the copy says the host's");
  // Pageable memory has been read when the call returns; pinned memory is read when its turn comes.
  std::shared_ptr<std::string> staged;
  if (!reads_device && !is_pinned(from))
    staged = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
  submit(stream, [=] {
    const void* source = staged ? staged->data() : from;
    if (reads_device) check_device_range(device, from, bytes, "the source of cudaMemcpyAsync");
    if (writes_device) check_device_range(device, to, bytes, "the target of cudaMemcpyAsync");
    std::memmove(to, source, bytes);
  });
  if (!writes_device && !is_pinned(to)) return cudaStreamSynchronize(stream);
  return cudaSuccess;
}

cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream) {
  submit(stream, [=] {
    check_device_range(from_device, from, bytes, "the source of cudaMemcpyPeerAsync");
    check_device_range(to_device, to, bytes, "the target of cudaMemcpyPeerAsync");
    std::memcpy(to, from, bytes);
  });
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  const std::lock_guard lock(mutex());
  submit(stream, [=, device = device_of(stream)] {
    check_device_range(device, to, bytes, "the target of cudaMemsetAsync");
    std::memset(to, value, bytes);
  });
  return cudaSuccess;
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  const std::lock_guard lock(mutex());
  // A blocking stream waits for the default one, which nothing here imitates.
  if (flags != cudaStreamNonBlocking) return failed(cudaErrorNotSupported);
  *stream = new_stream(device_of_thread);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const std::lock_guard lock(mutex());
  cudaStream_t s = resolve(stream);
  synchronize(s, s->submitted);
  return failed(context_error);
}
/// Each question brings the stream one step on.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  const std::lock_guard lock(mutex());
  cudaStream_t s = resolve(stream);
  if (context_error != cudaSuccess || s->queue.empty()) return failed(context_error);
  synchronize(s, s->done + 1);
  return s->queue.empty() ? failed(context_error) : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const std::lock_guard lock(mutex());
  if (!event->stream) return cudaSuccess;
  cudaStream_t s = resolve(stream);
  s->queue.push_back({{}, event->stream, event->position});
  ++s->submitted;
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st;
  (*event)->timing = !(flags & cudaEventDisableTiming);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const std::lock_guard lock(mutex());
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const std::lock_guard lock(mutex());
  event->stream = resolve(stream);
  event->position = event->stream->submitted;
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  const std::lock_guard lock(mutex());
  if (!event->stream || event->stream->done >= event->position) return failed(context_error);
  synchronize(event->stream, event->stream->done + 1);
  return event->stream->done >= event->position ? failed(context_error) : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const std::lock_guard lock(mutex());
  if (event->stream) synchronize(event->stream, event->position);
  return failed(context_error);
}
/// Nothing here takes the time that it would on a GPU.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  if (!start->timing || !end->timing || !start->stream || !end->stream)
    return failed(cudaErrorInvalidValue);
  *milliseconds = 0;
  return cudaSuccess;
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
  case cudaSuccess: return "cudaSuccess";
  case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
  case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
  case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
  case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
  case cudaErrorNotReady: return "cudaErrorNotReady";
  case cudaErrorLaunchFailure: return "cudaErrorLaunchFailure";
  case cudaErrorNotSupported: return "cudaErrorNotSupported";
  }
  return "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
  case cudaSuccess: return "no error";
  case cudaErrorInvalidValue: return "invalid argument";
  case cudaErrorMemoryAllocation: return "out of memory";
  case cudaErrorInvalidConfiguration: return "invalid configuration argument";
  case cudaErrorInvalidDevice: return "invalid device ordinal";
  case cudaErrorNotReady: return "device not ready";
  case cudaErrorLaunchFailure: return "unspecified launch failure";
  case cudaErrorNotSupported: return "operation not supported";
  }
  return "unrecognized error code";
}

}  // extern "C"

#pragma once

#include <cstddef>
#include <cstdint>

#include "aten/cuda/stream.h"

namespace tenon {
class TensorBase;
}

namespace tenon::cuda {

/// How device memory is handed out, per GPU.
///
/// Every block belongs to the stream that was current when it was allocated. Freed, it goes at once
/// to that stream's cache and to the next request of that stream, which the order of the queue
/// makes safe without waiting. Work on another stream must be made known with record_stream(): the
/// block is then reused only when that work is done. Sizes are rounded up to eight classes per
/// power of two, and a request takes the smallest cached block that is not more than twice its
/// class. The driver is asked only when there is none; when it refuses, all caches are given back,
/// which waits for the GPU, and it is asked once more.
struct MemoryStats {
  size_t allocated_bytes;       ///< in use by tensors
  size_t peak_allocated_bytes;  ///< highest value of that
  size_t cached_bytes;          ///< kept for reuse
  size_t driver_allocations;    ///< calls of cudaMalloc so far
  size_t allocations;           ///< requests so far
};

/// The tensor's memory is not reused before the work submitted to `stream` so far is done.
TENON_API void record_stream(const TensorBase& tensor, Stream stream);
/// Gives all cached memory of all GPUs back to the driver.
TENON_API void empty_cache();
TENON_API MemoryStats memory_stats(DeviceIndex device = -1);
TENON_API void reset_peak_memory_stats(DeviceIndex device = -1);

/// Scratch memory of a kernel on a GPU (-1: the current one), aligned to 512 bytes; null for 0
/// bytes. It belongs to the GPU's current stream and is freed, in stream order, at the end of the
/// scope. Error "[cuda] out of memory: tried to allocate ...".
class TENON_API Workspace {
 public:
  explicit Workspace(size_t bytes, DeviceIndex device = -1);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 private:
  DeviceIndex device_;
  void* data_;
};

}  // namespace tenon::cuda

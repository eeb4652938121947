#pragma once

#include <cstddef>
#include <string>

#include "aten/core/device.h"

namespace tenon::cuda {

/// Number of GPUs that can be used; 0 where there is no driver. Never throws.
TENON_API int device_count() noexcept;
inline bool is_available() noexcept { return device_count() > 0; }

/// The GPU that the calling thread works on.
TENON_API DeviceIndex current_device();
TENON_API void set_device(DeviceIndex index);
/// `device` with -1 replaced by the current GPU. Error unless it is a GPU that exists.
TENON_API Device resolve(Device device);

/// What launch configurations depend on, and what people call the GPU.
struct DeviceProperties {
  int multiprocessors;
  int threads_per_multiprocessor;
  int shared_memory_per_block;
  int major, minor;  ///< compute capability
  size_t total_memory;
  std::string name;
};
TENON_API const DeviceProperties& device_properties(DeviceIndex index);

/// Waits for everything that was submitted to a GPU; -1: the current one.
TENON_API void synchronize(DeviceIndex index = -1);

/// Works on another GPU until the end of the scope.
class TENON_API CUDAGuard {
 public:
  explicit CUDAGuard(Device device) : CUDAGuard(device.index()) {}
  explicit CUDAGuard(DeviceIndex index);
  ~CUDAGuard();
  CUDAGuard(const CUDAGuard&) = delete;
  CUDAGuard& operator=(const CUDAGuard&) = delete;

 private:
  DeviceIndex previous_;
  bool changed_;
};

}  // namespace tenon::cuda

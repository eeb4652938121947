#include "aten/cuda/cuda_device.h"

#include <mutex>
#include <vector>

#include "aten/cuda/cuda_error.h"

namespace tenon::cuda {
namespace {

DeviceProperties query(DeviceIndex index) {
  const auto attribute = [index](cudaDeviceAttr what) {
    int value = 0;
    TENON_CUDA_CHECK(cudaDeviceGetAttribute(&value, what, index));
    return value;
  };
  cudaDeviceProp all;
  TENON_CUDA_CHECK(cudaGetDeviceProperties(&all, index));
  return {attribute(cudaDevAttrMultiProcessorCount),
          attribute(cudaDevAttrMaxThreadsPerMultiProcessor),
          attribute(cudaDevAttrMaxSharedMemoryPerBlock),
          attribute(cudaDevAttrComputeCapabilityMajor),
          attribute(cudaDevAttrComputeCapabilityMinor),
          all.totalGlobalMem,
          all.name};
}

}  // namespace

int device_count() noexcept {
  static const int count = [] {
    int found = 0;
    if (cudaGetDeviceCount(&found) != cudaSuccess) {
      cudaGetLastError();
      return 0;
    }
    return found;
  }();
  return count;
}

DeviceIndex current_device() {
  int index = 0;
  TENON_CUDA_CHECK(cudaGetDevice(&index));
  return static_cast<DeviceIndex>(index);
}

void set_device(DeviceIndex index) { TENON_CUDA_CHECK(cudaSetDevice(index)); }

Device resolve(Device device) {
  TENON_CHECK(device.is_cuda(), "[cuda] expected a CUDA device, got ", device);
  const DeviceIndex index = device.has_index() ? device.index() : current_device();
  TENON_CHECK(index >= 0 && index < device_count(), "[cuda] device ", device,
              " does not exist: ", device_count(), " CUDA devices were found");
  return Device(kCUDA, index);
}

const DeviceProperties& device_properties(DeviceIndex index) {
  struct Slot {
    std::once_flag once;
    DeviceProperties properties;
  };
  static auto* slots = new std::vector<Slot>(static_cast<size_t>(device_count()));
  TENON_CHECK_INDEX(index >= 0 && index < device_count(), "[cuda] device ", int{index},
                    " does not exist: ", device_count(), " CUDA devices were found");
  Slot& slot = (*slots)[static_cast<size_t>(index)];
  std::call_once(slot.once, [&] { slot.properties = query(index); });
  return slot.properties;
}

void synchronize(DeviceIndex index) {
  const CUDAGuard guard(index);
  TENON_CUDA_CHECK(cudaDeviceSynchronize());
}

CUDAGuard::CUDAGuard(DeviceIndex index)
    : previous_(current_device()), changed_(index >= 0 && index != previous_) {
  if (changed_) set_device(index);
}

CUDAGuard::~CUDAGuard() {
  if (changed_) cudaSetDevice(previous_);  // cannot fail for a device that was current before
}

}  // namespace tenon::cuda

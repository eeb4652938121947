#include "toy_device.h"

#include <cstdlib>
#include <cstring>

namespace toy {
namespace {

constexpr uintptr_t kTag = uintptr_t{1} << 60;

}  // namespace

void* on_device(const void* address) {
  return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(address) - kTag);
}

void ToyDevice::set_device(tenon::DeviceIndex index) {
  TENON_CHECK(index == 0, "there is one toy device, got number ", int{index});
}

tenon::StorageImpl* ToyDevice::allocate(size_t bytes, tenon::Device device) {
  if (device.has_index()) set_device(device.index());
  void* memory = std::malloc(bytes + 1);
  TENON_CHECK(memory, "device toy is out of memory: cannot get ", bytes, " bytes");
  const auto tagged = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(memory) + kTag);
  return tenon::StorageImpl::create(
      tagged, bytes, tenon::Device(tenon::kPrivateUse1, 0),
      [](void*, void* data, size_t) noexcept { std::free(on_device(data)); }, nullptr);
}

void ToyDevice::copy_bytes(void* to, tenon::Device to_device, const void* from,
                           tenon::Device from_device, size_t bytes) {
  std::memcpy(to_device.is_cpu() ? to : on_device(to),
              from_device.is_cpu() ? from : on_device(from), bytes);
}

void load() {
  static ToyDevice* const device = new ToyDevice;  // tensors may outlive everything else
  tenon::rename_privateuse1_backend("toy");
  tenon::register_device_interface(tenon::kPrivateUse1, device);
}

}  // namespace toy

#include "aten/core/device_interface.h"

#include <array>
#include <atomic>

namespace tenon {
namespace {

std::array<std::atomic<DeviceInterface*>, kNumBackends> interfaces{};

std::atomic<DeviceInterface*>& slot(DeviceType type) {
  return interfaces[static_cast<size_t>(backend_of(type))];
}

}  // namespace

void register_device_interface(DeviceType type, DeviceInterface* device) {
  TENON_CHECK_VALUE(type != kCPU && type != kMeta, "[register_device_interface] device ",
                    to_string(type), " is built in");
  static constexpr DeviceAllocator kAllocators[] = {
      {[](size_t bytes, Device d) { return device_interface(d.type()).allocate(bytes, d); }}};
  slot(type) = device;
  register_allocator(type, device ? kAllocators : nullptr);
}

bool has_device_interface(DeviceType type) { return slot(type) != nullptr; }

DeviceInterface& device_interface(DeviceType type) {
  DeviceInterface* const found = slot(type);
  TENON_CHECK(found, "no library provides device ", to_string(type));
  return *found;
}

DeviceGuard::DeviceGuard(Device device) {
  if (!device.has_index() || !has_device_interface(device.type())) return;
  DeviceInterface& found = device_interface(device.type());
  previous_ = found.current_device();
  if (previous_ == device.index()) return;
  found.set_device(device.index());
  interface_ = &found;
}

DeviceGuard::~DeviceGuard() {
  if (interface_) interface_->set_device(previous_);
}

}  // namespace tenon

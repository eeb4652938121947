#include "aten/core/device_interface.h"

#include <array>
#include <atomic>

namespace tenon {
namespace {

std::array<std::atomic<DeviceInterface*>, kNumBackends> interfaces{};

std::array<std::atomic<const CurrentDevice*>, kNumBackends> current_devices{};

std::atomic<DeviceInterface*>& slot(DeviceType type) {
  return interfaces[static_cast<size_t>(backend_of(type))];
}
std::atomic<const CurrentDevice*>& current_slot(DeviceType type) {
  return current_devices[static_cast<size_t>(backend_of(type))];
}

/// Makes a device current and returns the one that was; -1 where the type has none.
DeviceIndex exchange_device(DeviceType type, DeviceIndex index) {
  DeviceIndex previous = -1;
  if (DeviceInterface* const library = slot(type)) {
    previous = library->current_device();
    if (previous != index) library->set_device(index);
  } else if (const CurrentDevice* const functions = current_slot(type)) {
    previous = functions->get();
    if (previous != index) functions->set(index);
  }
  return previous;
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

const CurrentDevice* register_current_device(DeviceType type, const CurrentDevice* functions) {
  return current_slot(type).exchange(functions);
}

void copy_within_device(void* to, const void* from, size_t bytes, Device device) {
  const CurrentDevice* const functions = current_slot(device.type());
  if (!has_device_interface(device.type()) && functions && functions->copy_within)
    return functions->copy_within(to, from, bytes, device);
  device_interface(device.type()).copy_bytes(to, device, from, device, bytes);
}

DeviceGuard::DeviceGuard(Device device) : type_(device.type()) {
  if (!device.has_index()) return;
  previous_ = exchange_device(type_, device.index());
  changed_ = previous_ >= 0 && previous_ != device.index();
}

DeviceGuard::~DeviceGuard() {
  if (changed_) exchange_device(type_, previous_);
}

}  // namespace tenon

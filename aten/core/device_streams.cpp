#include "aten/core/device_streams.h"

#include <array>

namespace tenon {
namespace {

constinit std::array<std::atomic<const DeviceStreams*>, static_cast<size_t>(kPrivateUse1) + 1>
    registered_streams{};

}  // namespace

constinit std::atomic<bool> detail::any_device_streams = false;

const DeviceStreams* register_device_streams(DeviceType type, const DeviceStreams* functions) {
  const DeviceStreams* before = registered_streams[static_cast<size_t>(type)].exchange(functions);
  bool any = false;
  for (const auto& one : registered_streams) any |= one.load() != nullptr;
  detail::any_device_streams = any;
  return before;
}

const DeviceStreams* device_streams(DeviceType type) {
  return registered_streams[static_cast<size_t>(type)].load(std::memory_order_acquire);
}

void* current_stream_of(Device device) {
  const DeviceStreams* streams = device_streams(device.type());
  return streams ? streams->current(device) : nullptr;
}

}  // namespace tenon

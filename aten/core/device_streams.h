#pragma once

#include <atomic>

#include "aten/core/device.h"

namespace tenon {

class TensorBase;

/// The queues of work, streams, that devices of one type have, by which backward runs a node where
/// its forward call ran. A stream is a handle of the device's library, which means something
/// together with the device alone.
struct DeviceStreams {
  /// The one that the calling thread's operators use on the device.
  void* (*current)(Device device);
  void (*make_current)(Device device, void* stream);
  /// What `stream` is given from now on starts after what `before`, of another device maybe, has
  /// been given.
  void (*wait)(Device device, void* stream, Device before_device, void* before);
  /// The tensor's memory is read by what `stream` of its device has been given, too.
  void (*keep)(const TensorBase& tensor, void* stream);
};

namespace detail {
extern TENON_API constinit std::atomic<bool> any_device_streams;
}

/// Returns what was registered before. The object must stay; null takes it away.
TENON_API const DeviceStreams* register_device_streams(DeviceType type,
                                                       const DeviceStreams* functions);
/// Null for devices that work in order.
TENON_API const DeviceStreams* device_streams(DeviceType type);
/// Whether there are devices with streams.
inline bool has_device_streams() {
  return detail::any_device_streams.load(std::memory_order_relaxed);
}
/// The thread's current one; null also for devices without.
TENON_API void* current_stream_of(Device device);

}  // namespace tenon

#pragma once

#include <string_view>

#include "aten/core/generator.h"
#include "aten/core/tensor_base.h"

namespace tenon {

/// What the library of an out-of-tree device provides (docs/backends.md). Methods may be called
/// from any thread at the same time; they throw tenon::Error.
class TENON_API DeviceInterface {
 public:
  virtual ~DeviceInterface() = default;

  virtual DeviceIndex device_count() const = 0;
  /// The one that "toy" without a number means on this thread.
  virtual DeviceIndex current_device() const = 0;
  virtual void set_device(DeviceIndex index) = 0;
  /// Waits until everything that was asked of the device is done.
  virtual void synchronize(DeviceIndex) {}

  /// Memory of the device; the storage's device has a number. Usually StorageImpl::create().
  virtual StorageImpl* allocate(size_t bytes, Device device) = 0;
  /// Copies between the device and the CPU, or within the device; done when it returns.
  virtual void copy_bytes(void* to, Device to_device, const void* from, Device from_device,
                          size_t bytes) = 0;
};

/// Makes the device usable, until it is registered anew; null takes it away. The object is the
/// caller's and must outlive its tensors.
TENON_API void register_device_interface(DeviceType type, DeviceInterface* device);
TENON_API bool has_device_interface(DeviceType type);
/// Error "no library provides device toy" if there is none.
TENON_API DeviceInterface& device_interface(DeviceType type);

/// From now on PrivateUse1 devices print as `name` and parse as either. ValueError unless the name
/// is lower-case letters, digits and `_`, no device's name, and no other has been given before.
TENON_API void rename_privateuse1_backend(std::string_view name);
TENON_API const char* get_privateuse1_backend_name();

/// The thread's current device of a type that has no DeviceInterface: how the library of CUDA,
/// which allocates and copies by itself, serves DeviceGuard.
struct CurrentDevice {
  DeviceIndex (*get)();
  void (*set)(DeviceIndex index);
  /// Copies within a device, in the order of the work it is given.
  void (*copy_within)(void* to, const void* from, size_t bytes, Device device) = nullptr;
};
/// Returns what was registered before. The object must stay; null takes it away.
TENON_API const CurrentDevice* register_current_device(DeviceType type,
                                                       const CurrentDevice* functions);

/// Copies within a device that is neither the CPU nor meta. Error "no library provides device toy"
/// if nothing is registered for it.
TENON_API void copy_within_device(void* to, const void* from, size_t bytes, Device device);

/// Makes the device the current one of its type until the end of the scope. Nothing happens for
/// devices without a number or of types that have no current one.
class TENON_API DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  DeviceType type_;
  bool changed_ = false;
  DeviceIndex previous_ = -1;
};

}  // namespace tenon

#pragma once

#include "aten/core/device_interface.h"

namespace toy {

/// A device with memory of its own: its addresses carry a tag, so that the CPU cannot read them.
class ToyDevice : public tenon::DeviceInterface {
 public:
  tenon::DeviceIndex device_count() const override { return 1; }
  tenon::DeviceIndex current_device() const override { return 0; }
  void set_device(tenon::DeviceIndex index) override;
  tenon::StorageImpl* allocate(size_t bytes, tenon::Device device) override;
  void copy_bytes(void* to, tenon::Device to_device, const void* from, tenon::Device from_device,
                  size_t bytes) override;
};

/// The address as the device's own processor sees it.
void* on_device(const void* address);

template <class T>
T* data(const tenon::TensorBase& t) {
  return static_cast<T*>(on_device(t.data_ptr()));
}

/// Makes device "toy" known; call it before using one.
void load();
/// How many kernels have run on the device.
int64_t kernels_run();

}  // namespace toy

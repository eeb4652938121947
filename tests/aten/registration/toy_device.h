#pragma once

#include <cstdlib>
#include <cstring>
#include <map>

#include "aten/core/device_interface.h"

namespace tenon::test {

/// Two devices whose memory the CPU cannot read: addresses carry a tag that makes them invalid.
class ToyDevice : public DeviceInterface {
 public:
  DeviceIndex device_count() const override { return 2; }
  DeviceIndex current_device() const override { return current_; }
  void set_device(DeviceIndex index) override { current_ = index; }

  StorageImpl* allocate(size_t bytes, Device device) override {
    TENON_CHECK(device.index() < 2, "there are two toy devices, got ", device);
    live_bytes_ += bytes;
    char* memory = static_cast<char*>(std::malloc(bytes + 1));
    return StorageImpl::create(
        memory + kTag, bytes, Device(kPrivateUse1, device.has_index() ? device.index() : current_),
        [](void* self, void* data, size_t n) noexcept {
          static_cast<ToyDevice*>(self)->live_bytes_ -= n;
          std::free(real(data));
        },
        this);
  }
  void copy_bytes(void* to, Device to_device, const void* from, Device from_device,
                  size_t bytes) override {
    ++copies_;
    std::memcpy(to_device.is_cpu() ? to : real(to),
                from_device.is_cpu() ? from : real(const_cast<void*>(from)), bytes);
  }

  size_t live_bytes() const { return live_bytes_; }
  int copies() const { return copies_; }
  /// What the device's own processor sees.
  template <class T>
  static T* data(const TensorBase& t) {
    return static_cast<T*>(real(t.data_ptr()));
  }

 private:
  static constexpr uintptr_t kTag = uintptr_t{1} << 60;
  static void* real(void* p) { return static_cast<char*>(p) - kTag; }

  static inline thread_local DeviceIndex current_ = 0;
  std::atomic<size_t> live_bytes_{0};
  std::atomic<int> copies_{0};
};

}  // namespace tenon::test

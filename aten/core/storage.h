#pragma once

#include "aten/core/allocator.h"
#include "aten/core/device.h"
#include "aten/core/intrusive_ptr.h"

namespace tenon {

/// A block of untyped bytes on a device, shared by all tensors that view it.
class StorageImpl {
 public:
  /// Frees `data` of `bytes`; `context` is whatever was given with it.
  using Deleter = void (*)(void* context, void* data, size_t bytes) noexcept;

  RefCount refs;

  /// Uninitialised CPU memory. Small data lies directly behind the header, in one allocation.
  static TENON_API StorageImpl* create_cpu(size_t bytes);
  /// Memory owned by the caller's allocator; `deleter` runs when the last tensor is gone.
  static TENON_API StorageImpl* create(void* data, size_t bytes, Device device, Deleter deleter,
                                       void* context);
  static TENON_API void destroy(StorageImpl* storage) noexcept;

  void* data() const { return data_; }
  size_t nbytes() const { return bytes_; }
  Device device() const { return device_; }
  /// Replaces the memory, keeping every tensor that views it; the old memory is freed.
  TENON_API void reset_data(void* data, size_t bytes, Deleter deleter, void* context);

 private:
  StorageImpl(void* data, size_t bytes, Device device, Deleter deleter, void* context, size_t block)
      : device_(device), block_(static_cast<uint32_t>(block)), data_(data), bytes_(bytes),
        deleter_(deleter), context_(context) {}

  Device device_;
  uint32_t block_;  // bytes of the allocation that holds this header
  void* data_;
  size_t bytes_;
  Deleter deleter_;
  void* context_;
};

/// A counted reference to a StorageImpl.
class Storage {
 public:
  Storage() = default;
  explicit Storage(IntrusivePtr<StorageImpl> impl) : impl_(std::move(impl)) {}
  explicit operator bool() const { return static_cast<bool>(impl_); }
  void* data() const { return impl_ ? impl_->data() : nullptr; }
  void* data_ptr() const { return data(); }
  size_t nbytes() const { return impl_ ? impl_->nbytes() : 0; }
  Device device() const { return impl_ ? impl_->device() : Device(kCPU); }
  StorageImpl* get() const { return impl_.get(); }
  bool is_alias_of(const Storage& other) const { return impl_ == other.impl_; }
  uint32_t use_count() const { return impl_ ? impl_->refs.count() : 0; }

 private:
  IntrusivePtr<StorageImpl> impl_;
};

}  // namespace tenon

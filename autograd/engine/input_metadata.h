#pragma once

#include <cstring>
#include <optional>

#include "aten/core/device_streams.h"
#include "tenon/tensor.h"

namespace tenon::autograd {

/// What a gradient must be like: that of the forward result it belongs to.
class InputMetadata {
 public:
  /// An undefined tensor stands for a result that takes no gradient.
  explicit InputMetadata(const TensorBase& t) {
    if (const TensorImpl* impl = t.unsafe_impl()) {
      dtype_ = impl->dtype;
      device_ = impl->device;
      set_sizes(impl->sizes);
      if (TENON_UNLIKELY(!device_.is_cpu())) stream_ = current_stream_of(device_);
    }
  }
  InputMetadata(InputMetadata&& other) noexcept { take(other); }
  InputMetadata& operator=(InputMetadata&& other) noexcept {
    if (this != &other) {
      release();
      take(other);
    }
    return *this;
  }
  ~InputMetadata() { release(); }

  bool defined() const { return dtype_ != ScalarType::Undefined; }
  ScalarType dtype() const { return dtype_; }
  /// Whether a gradient of another dtype stays as it is.
  bool takes_any_dtype() const { return takes_any_dtype_; }
  /// Gradients are of this dtype from here on; nullopt: of any.
  void set_grad_dtype(std::optional<ScalarType> dtype) {
    dtype_ = dtype.value_or(dtype_);
    takes_any_dtype_ = !dtype;
  }
  Device device() const { return device_; }
  /// The device's stream that was the thread's when the result was made.
  void* stream() const { return stream_; }
  IntArrayRef sizes() const { return {dim_ <= kInline ? inline_ : heap_, dim_}; }
  /// Whether `t` has these sizes, dtype and kind of device.
  bool matches(const TensorImpl& t) const {
    if (t.dtype != dtype_ || t.device.type() != device_.type() || t.sizes.size() != dim_)
      return false;
    const int64_t* mine = dim_ <= kInline ? inline_ : heap_;
    for (size_t i = 0; i < dim_; ++i) {
      if (mine[i] != t.sizes[i]) return false;
    }
    return true;
  }

 private:
  static constexpr uint32_t kInline = 4;

  void set_sizes(IntArrayRef sizes) {
    dim_ = static_cast<uint32_t>(sizes.size());
    int64_t* to = inline_;
    if (TENON_UNLIKELY(dim_ > kInline)) {
      to = heap_ = static_cast<int64_t*>(memory::allocate(dim_ * sizeof(int64_t)));
    }
    for (uint32_t i = 0; i < dim_; ++i) to[i] = sizes[i];
  }
  void take(InputMetadata& other) noexcept {
    dtype_ = other.dtype_;
    device_ = other.device_;
    takes_any_dtype_ = other.takes_any_dtype_;
    stream_ = other.stream_;
    dim_ = std::exchange(other.dim_, 0);
    std::memcpy(inline_, other.inline_, sizeof(inline_));
  }
  void release() {
    if (TENON_UNLIKELY(dim_ > kInline)) memory::deallocate(heap_, dim_ * sizeof(int64_t));
  }

  ScalarType dtype_ = ScalarType::Undefined;
  Device device_ = kCPU;
  bool takes_any_dtype_ = false;
  uint32_t dim_ = 0;
  void* stream_ = nullptr;
  union {
    int64_t inline_[kInline];
    int64_t* heap_;
  };
};

}  // namespace tenon::autograd

#pragma once

#include <concepts>
#include <optional>
#include <string_view>

#include "aten/core/device.h"
#include "aten/core/memory_format.h"
#include "aten/core/scalar_type.h"

namespace tenon {

/// dtype, layout, device, pinned memory, requires_grad and memory format of a tensor to be made;
/// what is not set takes the default (default dtype, strided, CPU, not pinned, no gradient).
class TensorOptions {
 public:
  constexpr TensorOptions() = default;
  TensorOptions(ScalarType dtype) : set_(kDtype), dtype_(dtype) {}
  TensorOptions(tenon::Device device) : set_(kDevice), device_(device) {}
  TensorOptions(DeviceType type) : TensorOptions(tenon::Device(type)) {}
  /// A device by its name, "cuda:1". No `const char*`: a literal 0 would be one.
  template <std::convertible_to<std::string_view> Name>
  TensorOptions(const Name& device) : TensorOptions(tenon::Device(std::string_view(device))) {}
  TensorOptions(tenon::Layout layout) : set_(kLayout), layout_(layout) {}

  TensorOptions dtype(std::optional<ScalarType> t) const {
    return with(kDtype, &TensorOptions::dtype_, t);
  }
  TensorOptions device(std::optional<tenon::Device> d) const {
    return with(kDevice, &TensorOptions::device_, d);
  }
  TensorOptions device(DeviceType type, DeviceIndex index) const {
    return device(tenon::Device(type, index));
  }
  /// The CUDA device of that number.
  TensorOptions device_index(DeviceIndex index) const { return device(kCUDA, index); }
  TensorOptions layout(std::optional<tenon::Layout> l) const {
    return with(kLayout, &TensorOptions::layout_, l);
  }
  TensorOptions pinned_memory(std::optional<bool> p) const {
    return with(kPinned, &TensorOptions::pinned_, p);
  }
  TensorOptions requires_grad(bool r) const {
    TensorOptions copy = *this;
    copy.requires_grad_ = r;
    return copy;
  }
  TensorOptions memory_format(std::optional<MemoryFormat> m) const {
    return with(kMemoryFormat, &TensorOptions::memory_format_, m);
  }

  bool has_dtype() const { return set_ & kDtype; }
  bool has_device() const { return set_ & kDevice; }
  bool has_layout() const { return set_ & kLayout; }
  bool has_pinned_memory() const { return set_ & kPinned; }
  bool has_memory_format() const { return set_ & kMemoryFormat; }

  ScalarType dtype() const { return set_ & kDtype ? dtype_ : get_default_dtype(); }
  tenon::Device device() const { return device_; }
  tenon::Layout layout() const { return layout_; }
  bool pinned_memory() const { return pinned_; }
  bool requires_grad() const { return requires_grad_; }

  std::optional<ScalarType> dtype_opt() const { return given(kDtype, dtype_); }
  std::optional<tenon::Device> device_opt() const { return given(kDevice, device_); }
  std::optional<tenon::Layout> layout_opt() const { return given(kLayout, layout_); }
  std::optional<bool> pinned_memory_opt() const { return given(kPinned, pinned_); }
  std::optional<MemoryFormat> memory_format_opt() const {
    return given(kMemoryFormat, memory_format_);
  }

 private:
  // One set of bits and plain values, all initialised: a std::optional without value leaves bytes
  // unwritten, and reading it back whole, as passing it on does, then waits for its parts.
  enum Given : uint8_t {
    kDtype = 1,
    kDevice = 2,
    kLayout = 4,
    kPinned = 8,
    kMemoryFormat = 16,
  };

  template <class V>
  std::optional<V> given(Given bit, V value) const {
    return set_ & bit ? std::optional<V>(value) : std::nullopt;
  }
  /// Without a value the member goes back to its default.
  template <class V>
  TensorOptions with(Given bit, V TensorOptions::*member, std::optional<V> value) const {
    TensorOptions copy = *this;
    copy.set_ = static_cast<uint8_t>(value ? set_ | bit : set_ & ~bit);
    copy.*member = value ? *value : TensorOptions().*member;
    return copy;
  }

  uint8_t set_ = 0;
  ScalarType dtype_ = kFloat;
  tenon::Device device_ = tenon::Device(kCPU);
  tenon::Layout layout_ = kStrided;
  bool pinned_ = false;
  bool requires_grad_ = false;
  MemoryFormat memory_format_ = MemoryFormat::Contiguous;
};

inline TensorOptions dtype(ScalarType t) { return TensorOptions(t); }
inline TensorOptions device(Device d) { return TensorOptions(d); }
inline TensorOptions device_index(DeviceIndex index) { return TensorOptions().device_index(index); }
inline TensorOptions layout(Layout l) { return TensorOptions(l); }
inline TensorOptions requires_grad(bool r = true) { return TensorOptions().requires_grad(r); }

}  // namespace tenon

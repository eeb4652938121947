#pragma once

#include <optional>

#include "aten/core/device.h"
#include "aten/core/memory_format.h"
#include "aten/core/scalar_type.h"

namespace tenon {

/// dtype, layout, device, pinned memory, requires_grad and memory format of a tensor to be made;
/// what is not set takes the default (default dtype, strided, CPU, not pinned, no gradient).
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(ScalarType dtype) : dtype_(dtype) {}
  TensorOptions(tenon::Device device) : device_(device) {}
  TensorOptions(DeviceType type) : device_(tenon::Device(type)) {}
  TensorOptions(tenon::Layout layout) : layout_(layout) {}

  TensorOptions dtype(std::optional<ScalarType> t) const { return with(&TensorOptions::dtype_, t); }
  TensorOptions device(std::optional<tenon::Device> d) const {
    return with(&TensorOptions::device_, d);
  }
  TensorOptions layout(std::optional<tenon::Layout> l) const {
    return with(&TensorOptions::layout_, l);
  }
  TensorOptions pinned_memory(std::optional<bool> p) const {
    return with(&TensorOptions::pinned_, p);
  }
  TensorOptions requires_grad(bool r) const { return with(&TensorOptions::requires_grad_, r); }
  TensorOptions memory_format(std::optional<MemoryFormat> m) const {
    return with(&TensorOptions::memory_format_, m);
  }

  ScalarType dtype() const { return dtype_ ? *dtype_ : get_default_dtype(); }
  tenon::Device device() const { return device_.value_or(tenon::Device(kCPU)); }
  tenon::Layout layout() const { return layout_.value_or(kStrided); }
  bool pinned_memory() const { return pinned_.value_or(false); }
  bool requires_grad() const { return requires_grad_; }

  std::optional<ScalarType> dtype_opt() const { return dtype_; }
  std::optional<tenon::Device> device_opt() const { return device_; }
  std::optional<tenon::Layout> layout_opt() const { return layout_; }
  std::optional<bool> pinned_memory_opt() const { return pinned_; }
  std::optional<MemoryFormat> memory_format_opt() const { return memory_format_; }

 private:
  template <class Member, class V>
  TensorOptions with(Member member, V value) const {
    TensorOptions copy = *this;
    copy.*member = value;
    return copy;
  }

  std::optional<ScalarType> dtype_;
  std::optional<tenon::Device> device_;
  std::optional<tenon::Layout> layout_;
  std::optional<bool> pinned_;
  std::optional<MemoryFormat> memory_format_;
  bool requires_grad_ = false;
};

inline TensorOptions dtype(ScalarType t) { return TensorOptions(t); }
inline TensorOptions device(Device d) { return TensorOptions(d); }
inline TensorOptions requires_grad(bool r = true) { return TensorOptions().requires_grad(r); }

}  // namespace tenon

#pragma once

#include <optional>

#include "aten/iterator/plan.h"

namespace tenon::native {

/// dtype and device that a factory's optional arguments stand for.
struct FactoryOptions {
  ScalarType dtype;
  Device device;
};

/// What is not given comes from `fallback_dtype` and `fallback_device`. NotImplementedError for
/// another layout than strided and for pinned memory.
inline FactoryOptions factory_options(const char* op, std::optional<ScalarType> dtype,
                                      std::optional<Layout> layout, std::optional<Device> device,
                                      std::optional<bool> pin_memory, ScalarType fallback_dtype,
                                      Device fallback_device = kCPU) {
  TENON_CHECK_NOT_IMPLEMENTED(!layout || *layout == kStrided, "[", op,
                              "] layout must be strided, got ", *layout);
  TENON_CHECK_NOT_IMPLEMENTED(!pin_memory.value_or(false), "[", op,
                              "] pinned memory is not available, got pin_memory=true");
  return {dtype.value_or(fallback_dtype), device.value_or(fallback_device)};
}

/// Strides that a new tensor like `self` takes: those that preserve its order, or of the format
/// (empty if that is row-major).
inline DimVector strides_like(const TensorBase& self, MemoryFormat format) {
  if (format == MemoryFormat::Preserve) return preserved_strides(self);
  return format == MemoryFormat::Contiguous ? DimVector() : strides_of_format(self.sizes(), format);
}

/// A tensor like `self` whose elements are not set, as the `*_like` factories fill it.
inline TensorBase uninitialized_like(const char* op, const TensorBase& self,
                                     std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                     std::optional<Device> device, std::optional<bool> pin_memory,
                                     std::optional<MemoryFormat> memory_format) {
  TENON_CHECK_NOT_IMPLEMENTED(self.layout() == kStrided || layout == kStrided, "[", op,
                              "] is not implemented for tensors of layout ", self.layout(),
                              ". Convert them with to_dense()");
  const FactoryOptions o =
      factory_options(op, dtype, layout, device, pin_memory, self.scalar_type(), self.device());
  return tenon::empty_strided(self.sizes(),
                              strides_like(self, memory_format.value_or(MemoryFormat::Preserve)),
                              o.dtype, o.device);
}

}  // namespace tenon::native

#include "tenon/native/to.h"

#include "aten/composite/factory_options.h"
#include "tenon/native/_to_copy.h"
#include "tenon/ops/_to_copy.h"
#include "tenon/ops/copy.h"

namespace tenon {
namespace {

bool same_device(Device wanted, Device actual) {
  // "cuda" without an index is whatever CUDA device the tensor is on.
  return wanted.type() == actual.type() &&
         (!wanted.has_index() || wanted.index() == actual.index());
}

/// `self` itself if it already is what is asked for and no copy is wanted.
Tensor convert(const Tensor& self, std::optional<ScalarType> dtype, std::optional<Layout> layout,
               std::optional<Device> device, std::optional<bool> pin_memory, bool non_blocking,
               bool copy, std::optional<MemoryFormat> memory_format) {
  const MemoryFormat format = memory_format.value_or(MemoryFormat::Preserve);
  const bool same = (!dtype || *dtype == self.scalar_type()) &&
                    (!device || same_device(*device, self.device())) &&
                    (!layout || *layout == self.layout()) && !pin_memory.value_or(false) &&
                    (format == MemoryFormat::Preserve || self.suggest_memory_format() == format);
  if (same && !copy) return self;
  return ops::_to_copy::call(self, dtype, layout, device, pin_memory, non_blocking, memory_format);
}

}  // namespace

Tensor native::_to_copy(const Tensor& self, std::optional<ScalarType> dtype,
                        std::optional<Layout> layout, std::optional<Device> device,
                        std::optional<bool> pin_memory, bool non_blocking,
                        std::optional<MemoryFormat> memory_format) {
  const auto o = factory_options("_to_copy", dtype, layout, device, pin_memory, self.scalar_type(),
                                 self.device());
  const DimVector strides = strides_like(self, memory_format.value_or(MemoryFormat::Preserve));
  Tensor result = tenon::empty_strided(self.sizes(), strides, o.dtype, o.device);
  ops::copy_::call(result, self, non_blocking);
  return result;
}

Tensor native::to_dtype_layout(const Tensor& self, std::optional<ScalarType> dtype,
                               std::optional<Layout> layout, std::optional<Device> device,
                               std::optional<bool> pin_memory, bool non_blocking, bool copy,
                               std::optional<MemoryFormat> memory_format) {
  return convert(self, dtype, layout, device, pin_memory, non_blocking, copy, memory_format);
}

Tensor native::to_device(const Tensor& self, Device device, ScalarType dtype, bool non_blocking,
                         bool copy, std::optional<MemoryFormat> memory_format) {
  return convert(self, dtype, std::nullopt, device, std::nullopt, non_blocking, copy,
                 memory_format);
}

Tensor native::to_dtype(const Tensor& self, ScalarType dtype, bool non_blocking, bool copy,
                        std::optional<MemoryFormat> memory_format) {
  return convert(self, dtype, std::nullopt, std::nullopt, std::nullopt, non_blocking, copy,
                 memory_format);
}

Tensor native::to_other(const Tensor& self, const Tensor& other, bool non_blocking, bool copy,
                        std::optional<MemoryFormat> memory_format) {
  return convert(self, other.scalar_type(), std::nullopt, other.device(), std::nullopt,
                 non_blocking, copy, memory_format);
}

}  // namespace tenon

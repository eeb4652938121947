#include "tenon/native/empty.h"
#include "aten/composite/factory_options.h"
#include "aten/composite/sparse_by_name.h"
#include "tenon/native/empty_like.h"
#include "tenon/native/empty_strided.h"
#include "tenon/native/new_empty.h"
#include "tenon/native/new_empty_strided.h"

namespace tenon {

Tensor native::empty(IntArrayRef size, std::optional<ScalarType> dtype,
                     std::optional<Layout> layout, std::optional<Device> device,
                     std::optional<bool> pin_memory, std::optional<MemoryFormat> memory_format) {
  if (layout && *layout != kStrided) return empty_sparse(size, dtype, *layout, device);
  const auto o = factory_options("empty", dtype, layout, device, pin_memory, get_default_dtype());
  if (TENON_LIKELY(!memory_format || *memory_format == MemoryFormat::Contiguous)) {
    return tenon::empty(size, o.dtype, o.device);
  }
  TENON_CHECK(*memory_format != MemoryFormat::Preserve,
              "[empty] unsupported memory format preserve_format: there is nothing to preserve");
  return tenon::empty_strided(size, strides_of_format(size, *memory_format), o.dtype, o.device);
}

Tensor native::empty_strided(IntArrayRef size, IntArrayRef stride, std::optional<ScalarType> dtype,
                             std::optional<Layout> layout, std::optional<Device> device,
                             std::optional<bool> pin_memory) {
  const auto o =
      factory_options("empty_strided", dtype, layout, device, pin_memory, get_default_dtype());
  TENON_CHECK(size.size() == stride.size(), "[empty_strided] dimensionality of sizes (",
              size.size(), ") must match dimensionality of strides (", stride.size(), ")");
  return tenon::empty_strided(size, stride, o.dtype, o.device);
}

Tensor native::empty_like(const Tensor& self, std::optional<ScalarType> dtype,
                          std::optional<Layout> layout, std::optional<Device> device,
                          std::optional<bool> pin_memory,
                          std::optional<MemoryFormat> memory_format) {
  return uninitialized_like("empty_like", self, dtype, layout, device, pin_memory, memory_format);
}

Tensor native::new_empty(const Tensor& self, IntArrayRef size, std::optional<ScalarType> dtype,
                         std::optional<Layout> layout, std::optional<Device> device,
                         std::optional<bool> pin_memory) {
  const auto o = factory_options("new_empty", dtype, layout, device, pin_memory, self.scalar_type(),
                                 self.device());
  return tenon::empty(size, o.dtype, o.device);
}

Tensor native::new_empty_strided(const Tensor& self, IntArrayRef size, IntArrayRef stride,
                                 std::optional<ScalarType> dtype, std::optional<Layout> layout,
                                 std::optional<Device> device, std::optional<bool> pin_memory) {
  const auto o = factory_options("new_empty_strided", dtype, layout, device, pin_memory,
                                 self.scalar_type(), self.device());
  return native::empty_strided(size, stride, o.dtype, kStrided, o.device, false);
}

}  // namespace tenon

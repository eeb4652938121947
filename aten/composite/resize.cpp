#include "tenon/native/resize.h"
#include "aten/composite/factory_options.h"
#include "tenon/native/resize_as.h"

namespace tenon {

Tensor& native::resize_(Tensor& self, IntArrayRef size, std::optional<MemoryFormat> memory_format) {
  TENON_CHECK(!self.requires_grad(), "[resize_] cannot resize variables that require grad");
  if (!(self.sizes() == size)) tenon::resize(self, size);
  if (memory_format && *memory_format != MemoryFormat::Contiguous) {
    TENON_CHECK(*memory_format != MemoryFormat::Preserve, "[resize_] Unsupported memory format ",
                *memory_format);
    self.unsafe_impl()->set_sizes_and_strides(size, strides_of_format(size, *memory_format));
  }
  return self;
}

/// `Preserve` is the format that the template lies in.
Tensor& native::resize_as_(Tensor& self, const Tensor& the_template,
                           std::optional<MemoryFormat> memory_format) {
  TENON_CHECK(!self.requires_grad(), "[resize_as_] cannot resize variables that require grad");
  if (memory_format == MemoryFormat::Preserve) memory_format = the_template.suggest_memory_format();
  return resize_(self, the_template.sizes(), memory_format);
}

}  // namespace tenon

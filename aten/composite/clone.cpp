#include "tenon/native/clone.h"

#include "aten/composite/factory_options.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"

namespace tenon {

Tensor native::clone(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  const DimVector strides = strides_like(self, memory_format.value_or(MemoryFormat::Preserve));
  Tensor result = tenon::empty_strided(self.sizes(), strides, self.scalar_type(), self.device());
  ops::copy_::call(result, self, false);
  return result;
}

}  // namespace tenon

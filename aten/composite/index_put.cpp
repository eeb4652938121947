#include "tenon/native/index_put.h"

#include "tenon/ops/clone.h"
#include "tenon/ops/index_put.h"

namespace tenon {

Tensor native::index_put(const Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                         const Tensor& values, bool accumulate) {
  Tensor result = ops::clone::call(self, MemoryFormat::Preserve);
  ops::index_put_::call(result, indices, values, accumulate);
  return result;
}

}  // namespace tenon

#include "tenon/native/as_strided_scatter.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"

namespace tenon {

/// A copy of self, of its strides if it is dense, in which as_strided(size, stride, storage_offset)
/// is src.
Tensor native::as_strided_scatter(const Tensor& self, const Tensor& src, IntArrayRef size,
                                  IntArrayRef stride, std::optional<int64_t> storage_offset) {
  const Tensor out = self.clone(MemoryFormat::Preserve);
  const Tensor view = out.as_strided(size, stride, storage_offset);
  TENON_CHECK(view.sizes() == src.sizes(),
              "[as_strided_scatter] expected src to have a size equal to the slice of self. src "
              "size = ",
              src.sizes(), ", slice size = ", view.sizes());
  view.copy_(src);
  return out;
}

}  // namespace tenon

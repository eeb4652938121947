#include "aten/common/complex_parts.h"

namespace tenon::native {
namespace {

TensorBase part(const TensorBase& t, int64_t which) {
  DimVector strides(t.strides());
  for (int64_t& stride : strides) stride *= 2;
  t.data_ptr();  // an error for a tensor without memory of its own
  TensorBase result = make_detached(t);
  TensorImpl& impl = *result.unsafe_impl();
  impl.dtype = to_real(t.scalar_type());
  impl.storage_offset = 2 * t.storage_offset() + which;
  impl.set_sizes_and_strides(t.sizes(), strides);
  impl.refresh_data();
  return result;
}

}  // namespace

ComplexParts complex_parts(const TensorBase& t) { return {part(t, 0), part(t, 1)}; }

}  // namespace tenon::native

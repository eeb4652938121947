#include "tenon/native/_local_scalar_dense.h"

#include "aten/iterator/storage_only.h"

namespace tenon {

Scalar native::_local_scalar_dense_cpu(const Tensor& self) {
  if (is_storage_only(self.scalar_type()))
    return storage_only_value(self.const_data_ptr(), self.scalar_type());
  return TENON_DISPATCH_ALL(self.scalar_type(), "_local_scalar_dense", {
    return Scalar(*static_cast<const scalar_t*>(self.const_data_ptr()));
  });
}

}  // namespace tenon

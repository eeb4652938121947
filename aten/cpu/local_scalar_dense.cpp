#include "tenon/native/_local_scalar_dense.h"

namespace tenon {

Scalar native::_local_scalar_dense_cpu(const Tensor& self) {
  return TENON_DISPATCH_ALL(self.scalar_type(), "_local_scalar_dense", {
    return Scalar(*static_cast<const scalar_t*>(self.const_data_ptr()));
  });
}

}  // namespace tenon

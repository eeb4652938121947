#include "tenon/native/_local_scalar_dense.h"

#include "aten/cuda/copy.h"

namespace tenon {

/// Waits for the GPU: the host needs the number.
Scalar native::_local_scalar_dense_cuda(const Tensor& self) {
  const Tensor here = tenon::empty({}, self.scalar_type(), kCPU);
  const TensorBase one = make_detached(self);
  one.unsafe_impl()->set_sizes_contiguous({});
  cuda::copy(here, one);
  return TENON_DISPATCH_ALL(self.scalar_type(), "_local_scalar_dense", {
    return Scalar(*static_cast<const scalar_t*>(here.const_data_ptr()));
  });
}

}  // namespace tenon

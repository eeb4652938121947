#include "tenon/native/fill.h"

#include <cuda_runtime_api.h>

#include "aten/cuda/copy.h"
#include "aten/cuda/launch.h"
#include "tenon/native/zero.h"

namespace tenon {

/// The number is converted as on the CPU, with its check for overflow, and passed to the kernel.
Tensor& native::fill_scalar_cuda_(Tensor& self, const Scalar& value) {
  Tensor number = tenon::empty({}, self.scalar_type(), kCPU);
  native::fill_scalar_cpu_(number, value);
  cuda::copy(self, number);
  return self;
}

Tensor& native::fill_tensor_cuda_(Tensor& self, const Tensor& value) {
  TENON_CHECK(value.dim() == 0,
              "[fill_] fill_ only supports 0-dimension value tensor but got tensor with ",
              value.dim(), " dimensions.");
  cuda::copy(self, value);
  return self;
}

Tensor& native::zero_cuda_(Tensor& self) {
  if (!self.is_non_overlapping_and_dense()) return native::fill_scalar_cuda_(self, 0);
  if (self.numel() == 0) return self;
  const cuda::LaunchScope scope(self);
  TENON_CUDA_CHECK(cudaMemsetAsync(self.mutable_data_ptr(), 0, self.nbytes(), scope));
  return self;
}

}  // namespace tenon

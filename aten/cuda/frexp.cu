// Mantissa and exponent of each element.
#include "tenon/native/frexp.h"

#include "aten/common/contiguous.h"
#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/launch.h"

namespace tenon {
namespace {

template <class T, class V>
__global__ void frexp_kernel(const T* in, T* mantissa, int32_t* exponent, int64_t n) {
  TENON_CUDA_LOOP(i, n) {
    int power = 0;
    mantissa[i] = static_cast<T>(::frexp(static_cast<V>(in[i]), &power));
    exponent[i] = power;
  }
}

}  // namespace

void native::frexp_Tensor_cuda(const Tensor& self, const Tensor& mantissa, const Tensor& exponent) {
  if (self.numel() == 0) return;
  const TensorBase in = native::contiguous(self);
  const native::ContiguousOutput fractions(mantissa), powers(exponent);
  const cuda::LaunchScope scope(mantissa);
  TENON_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "frexp", {
    using T = cuda::device_t<scalar_t>;
    cuda::launch(frexp_kernel<T, cuda::opmath_type<scalar_t>>, cuda::blocks_for(in.numel()),
                 cuda::kBlock, 0, scope, static_cast<const T*>(in.const_data_ptr()),
                 fractions.data<T>(), powers.data<int32_t>(), in.numel());
  });
  fractions.copy_back();
  powers.copy_back();
}

}  // namespace tenon

// A linear map along one dimension, a thread for each element of the result.
#include "tenon/native/_resample.h"

#include "aten/common/contiguous.h"
#include "aten/cuda/atomic.cuh"
#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/launch.h"

namespace tenon {
namespace {

/// out[o][i][j] = sum over starts[i] <= e < starts[i + 1] of weights[e] in[o][indices[e]][j], of in
/// [outer, length, inner] and out [outer, size, inner]
template <class T, class V>
__global__ void resample_kernel(const T* in, const int64_t* starts, const int64_t* indices,
                                const T* weights, T* out, int64_t total, int64_t length,
                                int64_t inner, int64_t size) {
  TENON_CUDA_LOOP(k, total) {
    const int64_t row = k / inner, i = row % size, o = row / size;
    V sum = V(0);
    for (int64_t e = starts[i]; e < starts[i + 1]; ++e) {
      const int64_t at = indices[e];
      TENON_KERNEL_CHECK(at >= 0 && at < length);
      sum += cuda::convert<V>(weights[e]) *
             cuda::convert<V>(in[(o * length + at) * inner + k % inner]);
    }
    out[k] = cuda::convert<T>(sum);
  }
}

}  // namespace

void native::_resample_cuda(const Tensor& self, int64_t dim, const Tensor& starts,
                            const Tensor& indices, const Tensor& weights, const Tensor&,
                            const Tensor&, const Tensor&, const Tensor& out) {
  if (out.numel() == 0) return;
  const native::DimSplit split(self.sizes(), dim);
  const TensorBase in = native::contiguous(self), first = native::contiguous(starts),
                   at = native::contiguous(indices), by = native::contiguous(weights);
  const native::ContiguousOutput result(out);
  const cuda::LaunchScope scope(out);
  TENON_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "_resample", {
    using T = cuda::device_t<scalar_t>;
    using V = cuda::opmath_type<scalar_t>;
    cuda::launch(resample_kernel<T, V>, cuda::blocks_for(out.numel()), cuda::kBlock, 0, scope,
                 static_cast<const T*>(in.const_data_ptr()), first.data_ptr<int64_t>(),
                 at.data_ptr<int64_t>(), static_cast<const T*>(by.const_data_ptr()),
                 result.data<T>(), out.numel(), split.length, split.inner, first.numel() - 1);
  });
  result.copy_back();
}

}  // namespace tenon

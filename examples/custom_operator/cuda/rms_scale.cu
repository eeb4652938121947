// Rows scaled by the inverse root of their mean square: one block per row, which is read twice, the
// second time from the cache.
#include "aten/cuda/launch.h"
#include "custom/native/rms_scale.h"

namespace custom {
namespace {

constexpr int kThreads = 256;

template <class T>
__global__ void rms_scale_kernel(const T* x, const T* weight, T* out, int64_t rows, int64_t columns,
                                 T eps) {
  __shared__ T partial[kThreads / 32];
  for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const T* from = x + row * columns;
    T squares = 0;
    for (int64_t i = threadIdx.x; i < columns; i += kThreads) squares += from[i] * from[i];
    for (int offset = 16; offset > 0; offset /= 2)
      squares += __shfl_down_sync(0xffffffffu, squares, offset);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = squares;
    __syncthreads();
    T total = 0;
    for (const T part : partial) total += part;
    const T scale = T(1) / sqrt(total / static_cast<T>(columns) + eps);
    for (int64_t i = threadIdx.x; i < columns; i += kThreads)
      out[row * columns + i] = from[i] * scale * weight[i];
    __syncthreads();  // before the next row overwrites the partial sums
  }
}

}  // namespace

void native::rms_scale_cuda(const tenon::Tensor& self, const tenon::Tensor& weight, double eps,
                            const tenon::Tensor& out) {
  const tenon::Tensor x = self.contiguous(), w = weight.contiguous();
  const tenon::Tensor y = out.is_contiguous()
                              ? out
                              : tenon::Tensor(tenon::empty(out.sizes(), out.dtype(), out.device()));
  const int64_t columns = x.size(-1);
  if (x.numel() == 0) return;
  const int64_t rows = x.numel() / columns;
  const tenon::cuda::LaunchScope scope(x);
  TENON_DISPATCH_FLOATING(x.dtype(), "rms_scale", {
    tenon::cuda::launch(rms_scale_kernel<scalar_t>, tenon::cuda::blocks_for(rows, 1), kThreads, 0,
                        scope, x.data_ptr<scalar_t>(), w.data_ptr<scalar_t>(),
                        y.data_ptr<scalar_t>(), rows, columns, static_cast<scalar_t>(eps));
  });
  if (!y.is_same(out)) out.copy_(y);
}

}  // namespace custom

// Lower and upper triangles of matrices: tril and triu.
#include "tenon/native/tril.h"

#include <algorithm>

#include "aten/common/contiguous.h"
#include "aten/cuda/dispatch_size.h"
#include "aten/cuda/extent.cuh"
#include "aten/cuda/launch.h"
#include "tenon/native/triu.h"

namespace tenon {
namespace {

template <class T>
__global__ void triangle_kernel(const T* in, T* out, int64_t n, cuda::Extent rows,
                                cuda::Extent columns, int64_t diagonal, bool lower) {
  TENON_CUDA_LOOP(i, n) {
    int64_t rest = i;
    const int64_t column = columns.take(rest), above = column - rows.take(rest) - diagonal;
    out[i] = (lower ? above <= 0 : above >= 0) ? in[i] : T{};
  }
}

void triangle(const Tensor& self, int64_t diagonal, bool lower, const Tensor& out) {
  if (out.numel() == 0) return;
  const TensorBase in = native::contiguous(self);
  const native::ContiguousOutput result(out);
  const int64_t rows = in.size(-2), columns = in.size(-1);
  // Further out nothing changes any more, and sums cannot overflow.
  const int64_t shift = std::clamp(diagonal, -rows - 1, columns + 1);
  const cuda::LaunchScope scope(out);
  cuda::dispatch_size(in.element_size(), [&]<class T>() {
    cuda::launch(triangle_kernel<T>, cuda::blocks_for(in.numel()), cuda::kBlock, 0, scope,
                 static_cast<const T*>(in.const_data_ptr()), result.data<T>(), in.numel(),
                 cuda::Extent(rows, in.numel()), cuda::Extent(columns, in.numel()), shift, lower);
  });
  result.copy_back();
}

}  // namespace

void native::tril_cuda(const Tensor& self, int64_t diagonal, const Tensor& out) {
  triangle(self, diagonal, true, out);
}
void native::triu_cuda(const Tensor& self, int64_t diagonal, const Tensor& out) {
  triangle(self, diagonal, false, out);
}

}  // namespace tenon

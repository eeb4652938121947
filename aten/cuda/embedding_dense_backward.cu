// The gradient of an embedding's weight: rows of grad_output added up by index.
#include "tenon/native/embedding_dense_backward.h"

#include "aten/common/contiguous.h"
#include "aten/cuda/cuda_accumulate.cuh"
#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/extent.cuh"
#include "aten/cuda/launch.h"

namespace tenon {
namespace {

__global__ void count_kernel(const int64_t* index, int64_t n, int64_t rows, int* counts) {
  TENON_CUDA_LOOP(i, n) {
    TENON_KERNEL_CHECK(index[i] >= 0 && index[i] < rows);
    atomicAdd(counts + index[i], 1);
  }
}

/// The rows of grad_output; `counts` may be null.
template <class T>
struct AddedRows {
  const T* grad;
  const int64_t* index;
  const int* counts;
  int64_t rows, padding;
  cuda::Extent size;

  __device__ int64_t place(int64_t i) const {
    const int64_t j = size.take(i), at = index[i];
    TENON_KERNEL_CHECK(at >= 0 && at < rows);
    return at == padding ? -1 : at * size.size + j;
  }
  __device__ T value(int64_t i) const {
    return counts ? grad[i] / static_cast<T>(counts[index[size.quotient(i)]]) : grad[i];
  }
};

}  // namespace

/// Half types are added in float.
void native::embedding_dense_backward_cuda(const Tensor& grad_output, const Tensor& indices,
                                           int64_t num_weights, int64_t padding_idx,
                                           bool scale_grad_by_freq, const Tensor& out) {
  if (out.numel() == 0) return;
  const ScalarType type = out.scalar_type() == kDouble ? kDouble : kFloat;
  const TensorBase grad = native::contiguous(grad_output, type),
                   index = native::contiguous(indices, kLong);
  const native::ContiguousOutput result(out, type);
  const cuda::LaunchScope scope(out);
  TENON_CUDA_CHECK(cudaMemsetAsync(result.data<void>(), 0, result.tensor().nbytes(), scope));
  if (grad.numel() > 0) {
    const auto* at = index.data_ptr<int64_t>();
    const cuda::Workspace counts(scale_grad_by_freq ? static_cast<size_t>(num_weights) * sizeof(int)
                                                    : 0);
    if (scale_grad_by_freq) {
      TENON_CUDA_CHECK(
          cudaMemsetAsync(counts.data(), 0, static_cast<size_t>(num_weights) * sizeof(int), scope));
      cuda::launch(count_kernel, cuda::blocks_for(index.numel()), cuda::kBlock, 0, scope, at,
                   index.numel(), num_weights, counts.as<int>());
    }
    TENON_DISPATCH_FLOATING(type, "embedding_dense_backward", {
      cuda::accumulate<cuda::Accumulation::Sum>(
          result.data<scalar_t>(), grad.numel(),
          AddedRows<scalar_t>{grad.data_ptr<scalar_t>(), at, counts.as<const int>(), num_weights,
                              padding_idx, cuda::Extent(out.numel() / num_weights, grad.numel())},
          scope);
    });
  }
  result.copy_back();
}

}  // namespace tenon

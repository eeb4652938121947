// Rows along one dimension by a list of indices: index_select, index_add, index_fill, and
// embedding.
#include "tenon/native/index_select.h"

#include "aten/cuda/atomic.cuh"
#include "aten/cuda/dense.h"
#include "aten/cuda/launch.h"
#include "tenon/native/embedding.h"
#include "tenon/native/index_add.h"
#include "tenon/native/index_fill.h"

namespace tenon {
namespace {

/// out[o][k][j] = in[o][index[k]][j], in [outer, length, inner]
template <class T>
__global__ void select_kernel(const T* in, const int64_t* index, T* out, int64_t total,
                              int64_t length, int64_t inner, int64_t count) {
  TENON_CUDA_LOOP(i, total) {
    const int64_t row = i / inner, k = row % count, o = row / count;
    const int64_t at = index[k];
    TENON_KERNEL_CHECK(at >= 0 && at < length);
    out[i] = in[(o * length + at) * inner + i % inner];
  }
}

/// out[o][index[k]][j] += alpha * source[o][k][j]
template <class T, class V>
__global__ void add_kernel(const T* source, const int64_t* index, T* out, int64_t total,
                           int64_t length, int64_t inner, int64_t count, V alpha) {
  TENON_CUDA_LOOP(i, total) {
    const int64_t row = i / inner, k = row % count, o = row / count;
    const int64_t at = index[k];
    TENON_KERNEL_CHECK(at >= 0 && at < length);
    cuda::atomic_add(out + (o * length + at) * inner + i % inner,
                     cuda::convert<T>(cuda::times(alpha, cuda::convert<V>(source[i]))));
  }
}

template <class T>
__global__ void fill_kernel(const int64_t* index, T* out, int64_t total, int64_t length,
                            int64_t inner, int64_t count, T value) {
  TENON_CUDA_LOOP(i, total) {
    const int64_t row = i / inner, k = row % count, o = row / count;
    const int64_t at = index[k] < 0 ? index[k] + length : index[k];
    TENON_KERNEL_CHECK(at >= 0 && at < length);
    out[(o * length + at) * inner + i % inner] = value;
  }
}

void select(const TensorBase& self, const cuda::DimSplit& split, const TensorBase& index,
            const TensorBase& out) {
  if (out.numel() == 0) return;
  const TensorBase in = cuda::contiguous(self), at = cuda::contiguous(index, kLong);
  const cuda::DenseOutput result(out);
  const cuda::LaunchScope scope(out);
  cuda::dispatch_size(in.element_size(), [&]<class T>() {
    cuda::launch(select_kernel<T>, cuda::blocks_for(out.numel()), cuda::kBlock, 0, scope,
                 static_cast<const T*>(in.const_data_ptr()), at.data_ptr<int64_t>(),
                 result.data<T>(), out.numel(), split.length, split.inner, at.numel());
  });
  result.finish();
}

}  // namespace

void native::index_select_cuda(const Tensor& self, int64_t dim, const Tensor& index,
                               const Tensor& out) {
  select(self, cuda::DimSplit(self.sizes(), dim), index, out);
}

/// Rows of weight [num, size...]: out [indices..., size...]
void native::embedding_cuda(const Tensor& weight, const Tensor& indices, int64_t, bool, bool,
                            const Tensor& out) {
  select(weight, cuda::DimSplit(weight.sizes(), 0), indices, out);
}

void native::index_add_cuda(const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& source, const Scalar& alpha, const Tensor& out) {
  const cuda::DenseOutput result(out);
  cuda::copy(result.tensor(), self);
  if (source.numel() > 0) {
    const cuda::DimSplit split(self.sizes(), dim);
    const TensorBase src = cuda::contiguous(source), at = cuda::contiguous(index, kLong);
    const cuda::LaunchScope scope(out);
    TENON_DISPATCH_ALL(self.scalar_type(), "index_add", {
      using T = cuda::device_t<scalar_t>;
      using V = cuda::accumulate_t<scalar_t>;
      cuda::launch(add_kernel<T, V>, cuda::blocks_for(src.numel()), cuda::kBlock, 0, scope,
                   static_cast<const T*>(src.const_data_ptr()), at.data_ptr<int64_t>(),
                   result.data<T>(), src.numel(), split.length, split.inner, at.numel(),
                   cuda::number_as<V>(alpha));
    });
  }
  result.finish();
}

void native::index_fill_int_Scalar_cuda(const Tensor& self, int64_t dim, const Tensor& index,
                                        const Scalar& value, const Tensor& out) {
  const cuda::DenseOutput result(out);
  cuda::copy(result.tensor(), self);
  const cuda::DimSplit split(self.sizes(), dim);
  const int64_t total = split.outer * index.numel() * split.inner;
  if (total > 0) {
    const TensorBase at = cuda::contiguous(index, kLong);
    const cuda::LaunchScope scope(out);
    TENON_DISPATCH_ALL(self.scalar_type(), "index_fill", {
      using T = cuda::device_t<scalar_t>;
      cuda::launch(fill_kernel<T>, cuda::blocks_for(total), cuda::kBlock, 0, scope,
                   at.data_ptr<int64_t>(), result.data<T>(), total, split.length, split.inner,
                   at.numel(), cuda::number_as<T>(value));
    });
  }
  result.finish();
}

}  // namespace tenon

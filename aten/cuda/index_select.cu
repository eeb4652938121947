// Rows along one dimension by a list of indices: index_select, index_add, index_fill, and
// embedding.
#include "tenon/native/index_select.h"

#include "aten/common/contiguous.h"
#include "aten/cuda/copy.h"
#include "aten/cuda/cuda_accumulate.cuh"
#include "aten/cuda/dispatch_size.h"
#include "aten/cuda/extent.cuh"
#include "aten/cuda/launch.h"
#include "tenon/native/embedding.h"
#include "tenon/native/index_add.h"
#include "tenon/native/index_fill.h"

namespace tenon {
namespace {

/// [outer, count, inner] by a list of `count` indices into the middle of [outer, length, inner].
struct Rows {
  const int64_t* index;
  int64_t total, length;
  cuda::Extent inner, count;

  Rows(const TensorBase& at, const native::DimSplit& split)
      : index(at.data_ptr<int64_t>()), total(split.outer * at.numel() * split.inner),
        length(split.length), inner(split.inner, total), count(at.numel(), total) {}
  /// Where element i lies in the indexed tensor.
  __device__ int64_t place(int64_t i, bool from_end = false) const {
    const int64_t j = inner.take(i), k = count.take(i);
    const int64_t at = from_end && index[k] < 0 ? index[k] + length : index[k];
    TENON_KERNEL_CHECK(at >= 0 && at < length);
    return (i * length + at) * inner.size + j;
  }
};

template <class T>
__global__ void select_kernel(const T* in, T* out, const __grid_constant__ Rows rows) {
  TENON_CUDA_LOOP(i, rows.total) { out[i] = in[rows.place(i)]; }
}

template <class T>
__global__ void fill_kernel(T* out, T value, const __grid_constant__ Rows rows) {
  TENON_CUDA_LOOP(i, rows.total) { out[rows.place(i, true)] = value; }
}

/// alpha * source, added to rows
template <class T, class V>
struct AddedRows {
  const T* source;
  V alpha;
  Rows rows;

  __device__ int64_t place(int64_t i) const { return rows.place(i); }
  __device__ T value(int64_t i) const {
    return cuda::convert<T>(cuda::times(alpha, cuda::convert<V>(source[i])));
  }
};

void select(const TensorBase& self, const native::DimSplit& split, const TensorBase& index,
            const TensorBase& out) {
  if (out.numel() == 0) return;
  const TensorBase in = native::contiguous(self), at = native::contiguous(index, kLong);
  const native::ContiguousOutput result(out);
  const cuda::LaunchScope scope(out);
  cuda::dispatch_size(in.element_size(), [&]<class T>() {
    cuda::launch(select_kernel<T>, cuda::blocks_for(out.numel()), cuda::kBlock, 0, scope,
                 static_cast<const T*>(in.const_data_ptr()), result.data<T>(), Rows(at, split));
  });
  result.copy_back();
}

}  // namespace

void native::index_select_cuda(const Tensor& self, int64_t dim, const Tensor& index,
                               const Tensor& out) {
  select(self, native::DimSplit(self.sizes(), dim), index, out);
}

/// Rows of weight [num, size...]: out [indices..., size...]
void native::embedding_cuda(const Tensor& weight, const Tensor& indices, int64_t, bool, bool,
                            const Tensor& out) {
  select(weight, native::DimSplit(weight.sizes(), 0), indices, out);
}

void native::index_add_cuda(const Tensor& self, int64_t dim, const Tensor& index,
                            const Tensor& source, const Scalar& alpha, const Tensor& out) {
  const native::ContiguousOutput result(out);
  cuda::copy(result.tensor(), self);
  if (source.numel() > 0) {
    const native::DimSplit split(self.sizes(), dim);
    const TensorBase src = native::contiguous(source), at = native::contiguous(index, kLong);
    const cuda::LaunchScope scope(out);
    TENON_DISPATCH_ALL(self.scalar_type(), "index_add", {
      using T = cuda::device_t<scalar_t>;
      using V = cuda::opmath_type<scalar_t>;
      cuda::accumulate<cuda::Accumulation::Sum>(
          result.data<T>(), src.numel(),
          AddedRows<T, V>{static_cast<const T*>(src.const_data_ptr()), cuda::number_as<V>(alpha),
                          Rows(at, split)},
          scope);
    });
  }
  result.copy_back();
}

void native::index_fill_int_Scalar_cuda(const Tensor& self, int64_t dim, const Tensor& index,
                                        const Scalar& value, const Tensor& out) {
  const native::ContiguousOutput result(out);
  cuda::copy(result.tensor(), self);
  const native::DimSplit split(self.sizes(), dim);
  const int64_t total = split.outer * index.numel() * split.inner;
  if (total > 0) {
    const TensorBase at = native::contiguous(index, kLong);
    const cuda::LaunchScope scope(out);
    TENON_DISPATCH_ALL(self.scalar_type(), "index_fill", {
      using T = cuda::device_t<scalar_t>;
      cuda::launch(fill_kernel<T>, cuda::blocks_for(total), cuda::kBlock, 0, scope,
                   result.data<T>(), cuda::number_as<T>(value), Rows(at, split));
    });
  }
  result.copy_back();
}

}  // namespace tenon

// gather and scatter: elements by an index tensor along one dimension.
#include "tenon/native/gather.h"

#include "aten/common/contiguous.h"
#include "aten/cuda/copy.h"
#include "aten/cuda/cuda_accumulate.cuh"
#include "aten/cuda/dispatch_size.h"
#include "aten/cuda/divisor.cuh"
#include "aten/cuda/index_limit.h"
#include "aten/cuda/launch.h"
#include "tenon/native/fill.h"
#include "tenon/native/scatter.h"
#include "tenon/native/scatter_add.h"

namespace tenon {
namespace {

constexpr int kMaxDims = 16;

/// The index tensor's sizes, and the strides of two tensors along them: `indexed`, whose dimension
/// dim is taken from the index, and `plain`, read in order. 0-dim tensors count as [1].
struct Walk {
  int ndim, dim;
  int64_t numel, length;  // length: of the indexed tensor along dim
  int64_t sizes[kMaxDims], indexed[kMaxDims], plain[kMaxDims];
  bool small;  // indices are below 2^31
  cuda::Divisor divisors[kMaxDims];

  Walk(const TensorBase& index, const TensorBase& by_index, int64_t d, const TensorBase* in_order) {
    ndim = static_cast<int>(std::max<int64_t>(index.dim(), 1));
    TENON_CHECK(ndim <= kMaxDims, "tensors of at most ", kMaxDims,
                " dimensions are supported here");
    dim = static_cast<int>(wrap_dim(d, by_index.dim()));
    numel = index.numel();
    length = by_index.dim() == 0 ? 1 : by_index.size(dim);
    small = numel < cuda::index_limit();
    for (int i = 0; i < ndim; ++i) {
      sizes[i] = index.dim() == 0 ? 1 : index.size(i);
      divisors[i] = cuda::Divisor(small && sizes[i] > 0 ? static_cast<uint32_t>(sizes[i]) : 1);
      indexed[i] = by_index.dim() == 0 ? 1 : by_index.stride(i);
      plain[i] = !in_order || in_order->dim() == 0 ? 0 : in_order->stride(i);
    }
  }

  /// Offsets in the two tensors of the i-th element of the index, without the index's own share.
  __device__ void offsets(int64_t i, int64_t& to, int64_t& from) const {
    to = from = 0;
    for (int d = ndim - 1; d >= 0; --d) {
      const int64_t next = small ? divisors[d].quotient(static_cast<uint32_t>(i)) : i / sizes[d];
      const int64_t at = i - next * sizes[d];
      i = next;
      if (d != dim) to += at * indexed[d];
      from += at * plain[d];
    }
  }
};

template <class T>
__global__ void gather_kernel(const T* in, const int64_t* index, T* out,
                              const __grid_constant__ Walk walk) {
  TENON_CUDA_LOOP(i, walk.numel) {
    int64_t offset, unused;
    walk.offsets(i, offset, unused);
    TENON_KERNEL_CHECK(index[i] >= 0 && index[i] < walk.length);
    out[i] = in[offset + index[i] * walk.indexed[walk.dim]];
  }
}

enum class Mode { Assign, Fill };

template <class T, Mode kMode>
__global__ void scatter_kernel(const T* src, T value, const int64_t* index, T* out,
                               const __grid_constant__ Walk walk) {
  TENON_CUDA_LOOP(i, walk.numel) {
    int64_t to, from;
    walk.offsets(i, to, from);
    TENON_KERNEL_CHECK(index[i] >= 0 && index[i] < walk.length);
    T* target = out + to + index[i] * walk.indexed[walk.dim];
    if constexpr (kMode == Mode::Assign) *target = src[from];
    if constexpr (kMode == Mode::Fill) *target = value;
  }
}

/// The elements of `src` that are added to, or multiplied with, those of another tensor.
template <class T>
struct Scattered {
  const T* src;
  const int64_t* index;
  Walk walk;

  __device__ int64_t place(int64_t i) const {
    int64_t to, from;
    walk.offsets(i, to, from);
    TENON_KERNEL_CHECK(index[i] >= 0 && index[i] < walk.length);
    return to + index[i] * walk.indexed[walk.dim];
  }
  __device__ T value(int64_t i) const {
    int64_t to, from;
    walk.offsets(i, to, from);
    return src[from];
  }
};

/// out = self, then launch(index data, out data, walk, scope).
template <class Launch>
void scatter(const Tensor& self, int64_t dim, const Tensor& index, const TensorBase* src,
             const Tensor& out, Launch&& launch) {
  cuda::copy(out, self);
  if (index.numel() == 0) return;
  const TensorBase at = native::contiguous(index, kLong);
  const cuda::LaunchScope scope(out);
  launch(at.data_ptr<int64_t>(), Walk(at, out, dim, src), scope);
}

/// out = self, with the elements of `src` accumulated into it; with those along `walked`, or else
/// its only one.
template <cuda::Accumulation kHow>
void combine(const char* op, const Tensor& self, int64_t dim, const Tensor& index,
             const Tensor& src, const TensorBase* walked, const Tensor& out) {
  scatter(self, dim, index, walked, out,
          [&](const int64_t* at, const Walk& walk, const cuda::LaunchScope& scope) {
            TENON_DISPATCH_ALL(self.scalar_type(), op, {
              using T = cuda::device_t<scalar_t>;
              cuda::accumulate<kHow>(
                  static_cast<T*>(out.mutable_data_ptr()), walk.numel,
                  Scattered<T>{static_cast<const T*>(src.const_data_ptr()), at, walk}, scope);
            });
          });
}

}  // namespace

void native::gather_cuda(const Tensor& self, int64_t dim, const Tensor& index, bool,
                         const Tensor& out) {
  if (index.numel() == 0) return;
  const TensorBase at = native::contiguous(index, kLong);
  const native::ContiguousOutput result(out);
  const Walk walk(at, self, dim, nullptr);
  const cuda::LaunchScope scope(out);
  cuda::dispatch_size(self.element_size(), [&]<class T>() {
    cuda::launch(gather_kernel<T>, cuda::blocks_for(walk.numel), cuda::kBlock, 0, scope,
                 static_cast<const T*>(self.const_data_ptr()), at.data_ptr<int64_t>(),
                 result.data<T>(), walk);
  });
  result.copy_back();
}

void native::scatter_src_cuda(const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& src, const Tensor& out) {
  scatter(self, dim, index, &src, out,
          [&](const int64_t* at, const Walk& walk, const cuda::LaunchScope& scope) {
            cuda::dispatch_size(self.element_size(), [&]<class T>() {
              cuda::launch(scatter_kernel<T, Mode::Assign>, cuda::blocks_for(walk.numel),
                           cuda::kBlock, 0, scope, static_cast<const T*>(src.const_data_ptr()), T{},
                           at, static_cast<T*>(out.mutable_data_ptr()), walk);
            });
          });
}

void native::scatter_value_cuda(const Tensor& self, int64_t dim, const Tensor& index,
                                const Scalar& value, const Tensor& out) {
  scatter(self, dim, index, nullptr, out,
          [&](const int64_t* at, const Walk& walk, const cuda::LaunchScope& scope) {
            TENON_DISPATCH_ALL(self.scalar_type(), "scatter", {
              using T = cuda::device_t<scalar_t>;
              cuda::launch(scatter_kernel<T, Mode::Fill>, cuda::blocks_for(walk.numel),
                           cuda::kBlock, 0, scope, nullptr, cuda::number_as<T>(value), at,
                           static_cast<T*>(out.mutable_data_ptr()), walk);
            });
          });
}

void native::scatter_add_cuda(const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& src, const Tensor& out) {
  combine<cuda::Accumulation::Sum>("scatter_add", self, dim, index, src, &src, out);
}

/// Elements that meet in one place are multiplied in the order of their numbers.
void native::scatter_reduce_cuda(const Tensor& self, int64_t dim, const Tensor& index,
                                 const Tensor& src, std::string_view reduce, const Tensor& out) {
  if (reduce == "multiply") {
    combine<cuda::Accumulation::Product>("scatter", self, dim, index, src, &src, out);
  } else {
    combine<cuda::Accumulation::Sum>("scatter", self, dim, index, src, &src, out);
  }
}

void native::scatter_value_reduce_cuda(const Tensor& self, int64_t dim, const Tensor& index,
                                       const Scalar& value, std::string_view reduce,
                                       const Tensor& out) {
  Tensor src(empty({}, self.scalar_type(), self.device()));
  native::fill_scalar_cuda_(src, value);
  if (reduce == "multiply") {
    combine<cuda::Accumulation::Product>("scatter", self, dim, index, src, nullptr, out);
  } else {
    combine<cuda::Accumulation::Sum>("scatter", self, dim, index, src, nullptr, out);
  }
}

}  // namespace tenon

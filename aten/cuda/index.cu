// Elements by index tensors, and assignment to them.
#include "tenon/native/index.h"

#include "aten/common/contiguous.h"
#include "aten/common/index_plan.h"
#include "aten/cuda/cuda_accumulate.cuh"
#include "aten/cuda/dispatch_size.h"
#include "aten/cuda/extent.cuh"
#include "aten/cuda/launch.h"
#include "tenon/native/index_put.h"

namespace tenon {
namespace {

using native::IndexPlan;

constexpr int kMaxDims = 16;

/// The result's dimensions with the strides of the indexed tensor and of the plain one (the result
/// or the values). Where an element of the block lies in the indexed tensor is in `places`.
struct Walk {
  int ndim = 0, before, block;
  int64_t numel;
  cuda::Extent sizes[kMaxDims];
  int64_t indexed[kMaxDims], plain[kMaxDims];

  Walk(const char* op, const IndexPlan& plan, IntArrayRef plain_strides)
      : before(static_cast<int>(plan.before)), block(static_cast<int>(plan.block)),
        numel(numel_of(plan.sizes)) {
    TENON_CHECK(plan.sizes.size() <= kMaxDims, "[", op, "] results of at most ", kMaxDims,
                " dimensions are supported on CUDA, got ", plan.sizes.size());
    for (size_t i = 0; i < plan.sizes.size(); ++i, ++ndim) {
      sizes[i] = cuda::Extent(plan.sizes[i], numel);
      indexed[i] = plan.strides[i];
      plain[i] = plain_strides[i];
    }
  }

  __device__ void offsets(int64_t i, const int64_t* places, int64_t& by_index,
                          int64_t& in_order) const {
    by_index = in_order = 0;
    int64_t in_block = 0, scale = 1;
    for (int d = ndim - 1; d >= 0; --d) {
      const int64_t at = sizes[d].take(i);
      by_index += at * indexed[d];
      in_order += at * plain[d];
      if (d >= before && d < before + block) {
        in_block += at * scale;
        scale *= sizes[d].size;
      }
    }
    by_index += places[in_block];
  }
};

__global__ void places_kernel(const int64_t* index, int64_t* places, int64_t n, int64_t length,
                              int64_t step) {
  TENON_CUDA_LOOP(i, n) {
    const int64_t at = index[i];
    TENON_KERNEL_CHECK(at >= -length && at < length);
    places[i] += (at < 0 ? at + length : at) * step;
  }
}

template <class T>
__global__ void get_kernel(const T* in, const int64_t* places, T* out,
                           const __grid_constant__ Walk walk) {
  TENON_CUDA_LOOP(i, walk.numel) {
    int64_t from, to;
    walk.offsets(i, places, from, to);
    out[to] = in[from];
  }
}

template <class T>
__global__ void put_kernel(const T* values, const int64_t* places, T* out,
                           const __grid_constant__ Walk walk) {
  TENON_CUDA_LOOP(i, walk.numel) {
    int64_t to, from;
    walk.offsets(i, places, to, from);
    out[to] = values[from];
  }
}

/// The values that are added to the places of their indices.
template <class T>
struct Added {
  const T* values;
  const int64_t* places;
  Walk walk;

  __device__ int64_t place(int64_t i) const {
    int64_t to, from;
    walk.offsets(i, places, to, from);
    return to;
  }
  __device__ T value(int64_t i) const {
    int64_t to, from;
    walk.offsets(i, places, to, from);
    return values[from];
  }
};

/// What the index tensors add to an element's offset, for all elements of the block.
TensorBase block_places(const TensorBase& self, const IndexPlan& plan) {
  const int64_t n = numel_of(plan.block_sizes());
  TensorBase places = empty(n, kLong, self.device());
  if (n == 0) return places;
  const cuda::LaunchScope scope(self);
  TENON_CUDA_CHECK(cudaMemsetAsync(places.mutable_data_ptr(), 0, places.nbytes(), scope));
  for (const IndexPlan::Index& index : plan.indices) {
    const TensorBase at = native::contiguous(index.at);
    cuda::launch(places_kernel, cuda::blocks_for(n), cuda::kBlock, 0, scope, at.data_ptr<int64_t>(),
                 places.data_ptr<int64_t>(), n, index.length, index.step);
  }
  return places;
}

}  // namespace

/// out[i, b, j] = self[i, indices[b], j]
Tensor native::index_cuda(const Tensor& self, ArrayRef<std::optional<Tensor>> indices) {
  const IndexPlan plan = plan_index("index", self, indices);
  const Tensor result(
      empty_strided(plan.sizes, plan.result_strides(self), self.scalar_type(), self.device()));
  const TensorBase places = block_places(self, plan);
  if (result.numel() == 0) return result;
  const Walk walk("index", plan, result.strides());
  const cuda::LaunchScope scope(self);
  cuda::dispatch_size(self.element_size(), [&]<class T>() {
    cuda::launch(get_kernel<T>, cuda::blocks_for(walk.numel), cuda::kBlock, 0, scope,
                 static_cast<const T*>(self.const_data_ptr()), places.data_ptr<int64_t>(),
                 static_cast<T*>(result.mutable_data_ptr()), walk);
  });
  return result;
}

/// self[i, indices[b], j] = values[i, b, j], or += with `accumulate`. Of values for one element,
/// without accumulate, any may be the last.
Tensor& native::index_put_cuda_(Tensor& self, ArrayRef<std::optional<Tensor>> indices,
                                const Tensor& values, bool accumulate) {
  const IndexPlan plan = plan_index("index_put_", self, indices);
  const TensorBase source = index_put_values(plan, self, values);
  const TensorBase places = block_places(self, plan);
  if (source.numel() == 0) return self;
  const Walk walk("index_put_", plan, source.strides());
  const cuda::LaunchScope scope(self);
  if (accumulate) {
    TENON_DISPATCH_ALL(self.scalar_type(), "index_put_", {
      using T = cuda::device_t<scalar_t>;
      cuda::accumulate<cuda::Accumulation::Sum>(
          static_cast<T*>(self.mutable_data_ptr()), walk.numel,
          Added<T>{static_cast<const T*>(source.const_data_ptr()), places.data_ptr<int64_t>(),
                   walk},
          scope);
    });
  } else {
    cuda::dispatch_size(self.element_size(), [&]<class T>() {
      cuda::launch(put_kernel<T>, cuda::blocks_for(walk.numel), cuda::kBlock, 0, scope,
                   static_cast<const T*>(source.const_data_ptr()), places.data_ptr<int64_t>(),
                   static_cast<T*>(self.mutable_data_ptr()), walk);
    });
  }
  return self;
}

}  // namespace tenon

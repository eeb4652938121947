#pragma once

#include <algorithm>

#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/divisor.cuh"
#include "aten/cuda/index_limit.h"
#include "aten/cuda/launch.h"
#include "aten/cuda/warp.cuh"

// The one kernel that all reductions run as. An operator is a struct, passed to the kernel by
// value:
//   using Acc                                       what is accumulated
//   Acc identity() const
//   Acc step(Acc acc, T value, int64_t index)       takes in an element; its row-major index among
//   those
//                                                   that are reduced to the same output
//   or Acc step_at(Acc acc, T value, int64_t output, int64_t place) const: the number of the
//   output, and where the element lies, for operators that read other tensors laid out alike Acc
//   combine(Acc a, Acc b) void store(int64_t output, Acc acc)             writes the result, to
//   pointers that the struct holds
// No atomics: the order of the sums, and so the result, is the same in every run.
namespace tenon::cuda {

inline constexpr int kMaxReduceDims = 16;

/// Some dimensions of a tensor in row-major order, merged where one stride serves.
struct DimList {
  int ndim = 0;
  int64_t numel = 1;
  int64_t sizes[kMaxReduceDims];
  int64_t strides[kMaxReduceDims];  ///< in elements
  Divisor divisors[kMaxReduceDims];
  bool small = true;  ///< indices are below 2^31

  void add(int64_t size, int64_t stride) {
    numel *= size;
    if (size == 1) return;
    if (ndim > 0 && strides[ndim - 1] == stride * size) {
      sizes[ndim - 1] *= size;
      strides[ndim - 1] = stride;
      return;
    }
    TENON_CHECK(ndim < kMaxReduceDims, "tensors of at most ", kMaxReduceDims,
                " dimensions are supported here");
    sizes[ndim] = size;
    strides[ndim++] = stride;
  }
  void finish() {
    small = numel < index_limit();
    for (int d = 0; d < ndim; ++d)
      divisors[d] = Divisor(small && sizes[d] > 0 ? static_cast<uint32_t>(sizes[d]) : 1);
  }
  int64_t fastest_stride() const { return ndim == 0 ? 0 : strides[ndim - 1]; }

  __device__ __forceinline__ int64_t offset(int64_t index) const {
    if (ndim == 1) return index * strides[0];
    int64_t result = 0;
    if (small) {
      auto rest = static_cast<uint32_t>(index);
      for (int d = ndim - 1; d >= 0; --d) {
        const uint32_t next = divisors[d].quotient(rest);
        result += int64_t{rest - next * divisors[d].value} * strides[d];
        rest = next;
      }
      return result;
    }
    for (int d = ndim - 1; d >= 0; --d) {
      result += index % sizes[d] * strides[d];
      index /= sizes[d];
    }
    return result;
  }
};

struct ReduceGeometry {
  DimList kept, reduced;
  bool across;        ///< threadIdx.x runs over outputs, else over the elements of one
  int64_t per_split;  ///< elements that one block takes of each of its outputs
};

/// Combines the accumulators of the threads with the same `lane`, for `row` 0 of them; all threads
/// get there. Thread row * lanes + lane of the block, or lane * rows + row; both powers of two.
template <class Op, class Acc>
__device__ Acc combine_rows(const Op& op, Acc acc, unsigned row, unsigned rows, unsigned lane,
                            unsigned lanes, bool rows_first) {
  const auto combine = [&op](const Acc& a, const Acc& b) { return op.combine(a, b); };
  const unsigned stride = rows_first ? 1 : lanes, in_warp = min(rows, 32 / stride);
  acc = combine_lanes(acc, in_warp, combine, stride);
  if (rows == in_warp) return acc;
  alignas(16) __shared__ unsigned char raw[kBlock * sizeof(Acc)];
  Acc* const of_warps = reinterpret_cast<Acc*>(raw);
  if (row % in_warp == 0) of_warps[row / in_warp * lanes + lane] = acc;
  __syncthreads();
  if (row == 0) {
    for (unsigned part = 1; part < rows / in_warp; ++part)
      acc = op.combine(acc, of_warps[part * lanes + lane]);
  }
  return acc;
}

template <class Op, class T>
__device__ __forceinline__ typename Op::Acc take_in(const Op& op, const typename Op::Acc& acc,
                                                    T value, int64_t index, int64_t output,
                                                    int64_t place) {
  if constexpr (requires { op.step_at(acc, value, output, place); }) {
    return op.step_at(acc, value, output, place);
  } else {
    return op.step(acc, value, index);
  }
}

template <class T, class Op>
__global__ void __launch_bounds__(kBlock)
    reduce_kernel(const T* in, const __grid_constant__ ReduceGeometry g, typename Op::Acc* partial,
                  const __grid_constant__ Op op) {
  using Acc = typename Op::Acc;
  const int lane = g.across ? threadIdx.x : threadIdx.y, lanes = g.across ? blockDim.x : blockDim.y;
  const int row = g.across ? threadIdx.y : threadIdx.x, rows = g.across ? blockDim.y : blockDim.x;
  const int64_t output = int64_t{blockIdx.x} * lanes + lane;
  const int64_t begin = int64_t{blockIdx.y} * g.per_split;
  const int64_t end = min(begin + g.per_split, g.reduced.numel);
  Acc acc = op.identity();
  if (output < g.kept.numel) {
    const int64_t start = g.kept.offset(output);
    const T* from = in + start;
    // Four loads in flight.
    constexpr int kUnroll = 4;
    int64_t i = begin + row;
    for (; i + int64_t{kUnroll - 1} * rows < end; i += int64_t{kUnroll} * rows) {
      T values[kUnroll];
      int64_t at[kUnroll];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        values[u] = from[at[u] = g.reduced.offset(i + int64_t{u} * rows)];
#pragma unroll
      for (int u = 0; u < kUnroll; ++u)
        acc = take_in(op, acc, values[u], i + int64_t{u} * rows, output, start + at[u]);
    }
    for (; i < end; i += rows) {
      const int64_t at = g.reduced.offset(i);
      acc = take_in(op, acc, from[at], i, output, start + at);
    }
  }
  acc = combine_rows(op, acc, row, rows, lane, lanes, !g.across);
  if (row != 0 || output >= g.kept.numel) return;
  if (partial) {
    partial[int64_t{blockIdx.y} * g.kept.numel + output] = acc;
  } else {
    op.store(output, acc);
  }
}

/// One block for each output: combines what the splits have left.
template <class Op>
__global__ void __launch_bounds__(kBlock)
    combine_splits_kernel(const typename Op::Acc* partial, int64_t outputs, int splits,
                          const __grid_constant__ Op op) {
  for (int64_t output = blockIdx.x; output < outputs; output += gridDim.x) {
    typename Op::Acc acc = op.identity();
    for (int s = threadIdx.x; s < splits; s += kBlock)
      acc = op.combine(acc, partial[s * outputs + output]);
    acc = combine_rows(op, acc, threadIdx.x, kBlock, 0, 1, true);
    if (threadIdx.x == 0) op.store(output, acc);
    __syncthreads();
  }
}

namespace detail {

inline int power_of_two_up_to(int64_t n, int limit) {
  int p = 1;
  while (p < limit && p < n) p *= 2;
  return p;
}

}  // namespace detail

/// Reduces the dimensions of `in` whose bit is set in `mask`; outputs are numbered row-major.
template <class T, class Op>
void reduce(const TensorBase& in, uint64_t mask, const Op& op) {
  using Acc = typename Op::Acc;
  ReduceGeometry g;
  for (int64_t d = 0; d < in.dim(); ++d) {
    DimList& list = (mask >> d) & 1 ? g.reduced : g.kept;
    list.add(in.sizes()[d], in.strides()[d]);
  }
  g.kept.finish();
  g.reduced.finish();
  const int64_t outputs = g.kept.numel, count = g.reduced.numel;
  if (outputs == 0) return;

  const LaunchScope scope(in);
  // Neighbouring threads should read neighbouring elements.
  g.across = g.kept.fastest_stride() == 1 && outputs >= 8 && g.reduced.fastest_stride() != 1;
  dim3 block;
  if (g.across) {
    block.x = detail::power_of_two_up_to(outputs, 32);
    block.y = detail::power_of_two_up_to(count, kBlock / static_cast<int>(block.x));
  } else {
    block.x = detail::power_of_two_up_to(count, kBlock);
    block.y = kBlock / block.x;
  }
  const int64_t lanes = g.across ? block.x : block.y, rows = g.across ? block.y : block.x;
  const int64_t groups = (outputs + lanes - 1) / lanes;
  // Where the outputs do not fill the GPU, several blocks share one.
  const int64_t wanted = int64_t{device_properties(in.device().index()).multiprocessors} * 8;
  const int64_t useful = count / (rows * 16);
  const int64_t splits = std::clamp<int64_t>(std::min(wanted / groups, useful), 1, 1024);
  g.per_split = (count + splits - 1) / splits;
  TENON_CHECK(groups < (int64_t{1} << 31), "[reduce] too many outputs: ", outputs);
  const dim3 grid(static_cast<unsigned>(groups), static_cast<unsigned>(splits));
  const T* data = static_cast<const T*>(in.const_data_ptr());
  if (splits == 1) {
    launch(reduce_kernel<T, Op>, grid, block, 0, scope, data, g, static_cast<Acc*>(nullptr), op);
    return;
  }
  const Workspace partial(static_cast<size_t>(splits * outputs) * sizeof(Acc), in.device().index());
  launch(reduce_kernel<T, Op>, grid, block, 0, scope, data, g, partial.as<Acc>(), op);
  launch(combine_splits_kernel<Op>, blocks_for(outputs, 1, 65535), kBlock, 0, scope,
         partial.as<const Acc>(), outputs, static_cast<int>(splits), op);
}

}  // namespace tenon::cuda

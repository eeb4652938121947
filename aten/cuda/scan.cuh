#pragma once

#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/launch.h"
#include "aten/cuda/warp.cuh"

// Sums over the threads of a block that come before one. All kBlock threads take part.
namespace tenon::cuda {

inline constexpr int kBlockWarps = kBlock / 32;

namespace detail {

/// The sums of the warps before this thread's one, and that of all in `total`.
template <class V>
__device__ __forceinline__ V sum_before(V of_warp, bool writes, V& total) {
  alignas(16) __shared__ unsigned char raw[kBlockWarps * sizeof(V)];
  V* const sums = reinterpret_cast<V*>(raw);
  const unsigned warp = threadIdx.x / 32;
  if (writes) sums[warp] = of_warp;
  __syncthreads();
  V before(0);
  total = V(0);
#pragma unroll
  for (unsigned w = 0; w < kBlockWarps; ++w) {
    if (w == warp) before = total;
    total = plus(total, sums[w]);
  }
  __syncthreads();  // before the next call overwrites them
  return before;
}

}  // namespace detail

/// The sum of `value` over the threads before this one, and that of all in `total`.
template <class V>
__device__ V scan_block(V value, V& total) {
  const unsigned lane = threadIdx.x % 32;
  V up_to = value;
#pragma unroll
  for (unsigned delta = 1; delta < 32; delta *= 2) {
    const V below = shuffle_up(up_to, delta);
    if (lane >= delta) up_to = plus(below, up_to);
  }
  // Not up_to - value, which of infinities is NaN.
  const V below = shuffle_up(up_to, 1u);
  const V before = detail::sum_before(up_to, lane == 31, total);
  return lane == 0 ? before : plus(before, below);
}

/// How many threads before this one are `chosen`, and how many there are in `total`.
inline __device__ int rank_in_block(bool chosen, int& total) {
  const unsigned lane = threadIdx.x % 32, votes = __ballot_sync(kAllLanes, chosen);
  const int below = __popc(votes & ((1u << lane) - 1));
  return detail::sum_before(__popc(votes), lane == 0, total) + below;
}

}  // namespace tenon::cuda

#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace tenon::cuda {

inline constexpr unsigned kAllLanes = 0xffffffffu;

__device__ __forceinline__ unsigned lane_of_warp() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32;
}

namespace detail {

/// Applies f to the value, in pieces of 4 bytes where the hardware moves no such type.
template <class T, class F>
__device__ __forceinline__ T in_words(T value, F f) {
  static_assert(std::is_trivially_copyable_v<T>);
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
    return f(value);
  } else {
    constexpr int kWords = (sizeof(T) + 3) / 4;
    uint32_t words[kWords] = {};
    memcpy(words, &value, sizeof(T));
#pragma unroll
    for (uint32_t& word : words) word = f(word);
    memcpy(static_cast<void*>(&value), words, sizeof(T));
    return value;
  }
}

}  // namespace detail

/// What the lane of the number that differs in `bits` has; all lanes of the mask take part.
template <class T>
__device__ __forceinline__ T shuffle_xor(unsigned mask, T value, unsigned bits) {
  return detail::in_words(value,
                          [=](auto v) { return __shfl_xor_sync(mask, v, static_cast<int>(bits)); });
}
/// What the lane `delta` below has, the lane's own value where there is none.
template <class T>
__device__ __forceinline__ T shuffle_up(T value, unsigned delta) {
  return detail::in_words(value, [=](auto v) { return __shfl_up_sync(kAllLanes, v, delta); });
}

/// f of the values of `count` lanes that are `stride` apart, both powers of two, given to each of
/// them, to the first in the order of lanes. All lanes between take part, for their own.
template <class T, class F>
__device__ __forceinline__ T combine_lanes(T value, unsigned count, F f, unsigned stride = 1) {
  const unsigned span = count * stride;
  const unsigned mask =
      span >= 32 ? kAllLanes : ((1u << span) - 1) << (lane_of_warp() & ~(span - 1));
  for (unsigned bits = span / 2; bits >= stride; bits /= 2)
    value = f(value, shuffle_xor(mask, value, bits));
  return value;
}

/// f of the values of a row's threads, those of one threadIdx.y, given to all of them; blockDim.x
/// is a power of two. Where it is above 32, all threads of the block take part. f is commutative.
template <class T, class F>
__device__ __forceinline__ T combine_row(T value, F f) {
  value = combine_lanes(value, blockDim.x < 32 ? blockDim.x : 32, f);
  if (blockDim.x <= 32) return value;
  alignas(16) __shared__ unsigned char raw[32 * sizeof(T)];
  const unsigned warps = blockDim.x / 32;
  T* const of_warps = reinterpret_cast<T*>(raw) + threadIdx.y * warps;
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = value;
  __syncthreads();
  value = of_warps[0];
  for (unsigned w = 1; w < warps; ++w) value = f(value, of_warps[w]);
  __syncthreads();  // before the next call overwrites them
  return value;
}

}  // namespace tenon::cuda

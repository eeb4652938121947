#pragma once

#include <type_traits>

#include "aten/cuda/philox.cuh"

// Random numbers of the words that a block of Philox gives.
namespace tenon::cuda {

/// in (0, 1]
__device__ __forceinline__ float unit_float(uint32_t word) {
  constexpr float kScale = 2.3283064e-10f;  // 2^-32
  return word * kScale + kScale / 2;
}
__device__ __forceinline__ double unit_double(uint32_t low, uint32_t high) {
  constexpr double kScale = 1.1102230246251565e-16;  // 2^-53
  return (uint64_t{low} ^ (uint64_t{high} << 21)) * kScale + kScale / 2;
}

/// How many numbers computed in V, double or float, a block of Philox gives.
template <class V>
inline constexpr int kDrawn = std::is_same_v<V, double> ? kDoublesPerBlock : kFloatsPerBlock;

template <class V, int N>
struct Values {
  V v[N];
};

/// Uniform numbers in (0, 1].
template <class V>
__device__ __forceinline__ Values<V, kDrawn<V>> uniform_values(const Words& w) {
  if constexpr (std::is_same_v<V, double>) {
    return {{unit_double(w.x[0], w.x[1]), unit_double(w.x[2], w.x[3])}};
  } else {
    return {{unit_float(w.x[0]), unit_float(w.x[1]), unit_float(w.x[2]), unit_float(w.x[3])}};
  }
}

/// Normal numbers of mean 0 and deviation 1: Box and Muller (1958), two of two uniform ones.
template <class V>
__device__ __forceinline__ Values<V, kDrawn<V>> normal_values(const Words& w) {
  if constexpr (std::is_same_v<V, double>) {
    const double s = sqrt(-2.0 * log(unit_double(w.x[0], w.x[1])));
    double sine, cosine;
    sincospi(2 * unit_double(w.x[2], w.x[3]), &sine, &cosine);
    return {{sine * s, cosine * s}};
  } else {
    Values<float, 4> result;
    for (int k = 0; k < 4; k += 2) {
      constexpr float kScale = 2.3283064e-10f * 6.2831855f;  // 2 pi / 2^32
      const float s = sqrtf(-2.0f * logf(unit_float(w.x[k])));
      float sine, cosine;
      __sincosf(w.x[k + 1] * kScale + kScale / 2, &sine, &cosine);
      result.v[k] = sine * s;
      result.v[k + 1] = cosine * s;
    }
    return result;
  }
}

}  // namespace tenon::cuda

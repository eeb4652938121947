#pragma once

#include <algorithm>

#include "aten/cuda/convert.cuh"
#include "aten/cuda/dense.h"
#include "aten/cuda/generator.h"
#include "aten/cuda/launch.h"

// Fills tensors with random numbers: PyTorch's assignment of stream positions to elements, so that
// a seed gives the same numbers on GPUs of the same kind.
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

/// Numbers that one block of Philox gives: four of 32 bits, or two of 64.
template <int kCount, class Draw>
__global__ void __launch_bounds__(kBlock) random_kernel(int64_t n, PhiloxState state, Draw draw) {
  const int64_t threads = int64_t{gridDim.x} * kBlock;
  const int64_t thread = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  uint64_t turn = 0;
  for (int64_t start = thread; start < n; start += threads * kCount, ++turn) {
    const Words words = state.block(static_cast<uint64_t>(thread), turn);
    const auto values = draw.values(words);
#pragma unroll
    for (int k = 0; k < kCount; ++k) {
      const int64_t i = start + k * threads;
      if (i < n) draw.store(i, values.v[k]);
    }
  }
}

template <class V, int N>
struct Values {
  V v[N];
};

/// Runs `draw` for n elements: `Values<V, kCount> values(Words)` and `store(index, V)`.
template <int kCount, class Draw>
void fill_random(const char* op, int64_t n, Device device,
                 const std::optional<Generator>& generator, const Draw& draw) {
  if (n == 0) return;
  const LaunchScope scope(device);
  const DeviceProperties& properties = device_properties(scope.stream().device_index());
  const int64_t resident =
      int64_t{properties.multiprocessors} * (properties.threads_per_multiprocessor / kBlock);
  const int64_t blocks = std::min<int64_t>(resident, (n + kBlock - 1) / kBlock);
  const int64_t turns = (n - 1) / (kBlock * blocks * kCount) + 1;
  const PhiloxState state = reserve(op, generator, device, static_cast<uint64_t>(turns) * 4);
  launch(random_kernel<kCount, Draw>, static_cast<unsigned>(blocks), kBlock, 0, scope, n, state,
         draw);
}

/// Uniform numbers in (0, 1]: four floats or two doubles.
template <class V>
__device__ __forceinline__ auto uniform_values(const Words& w) {
  if constexpr (std::is_same_v<V, double>) {
    return Values<double, 2>{{unit_double(w.x[0], w.x[1]), unit_double(w.x[2], w.x[3])}};
  } else {
    return Values<float, 4>{
        {unit_float(w.x[0]), unit_float(w.x[1]), unit_float(w.x[2]), unit_float(w.x[3])}};
  }
}
template <class V>
inline constexpr int kDrawn = std::is_same_v<V, double> ? 2 : 4;

}  // namespace tenon::cuda

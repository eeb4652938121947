#pragma once

#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/cuda_generator.h"

#include "aten/cuda/launch.h"
#include "aten/cuda/random_values.cuh"

// Fills tensors with random numbers: PyTorch's assignment of stream positions to elements, so that
// a seed gives the same numbers on GPUs of the same kind.
namespace tenon::cuda {

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

/// Runs `draw` for n elements: `Values<V, kCount> values(Words)` and `store(index, V)`.
template <int kCount, class Draw>
void fill_random(const char* op, int64_t n, Device device,
                 const std::optional<Generator>& generator, const Draw& draw) {
  if (n == 0) return;
  const LaunchScope scope(device);
  const DrawGrid grid = draw_grid(n, kCount, scope.stream().device_index());
  const PhiloxState state = reserve(op, generator, device, grid.words());
  launch(random_kernel<kCount, Draw>, static_cast<unsigned>(grid.blocks), kBlock, 0, scope, n,
         state, draw);
}

}  // namespace tenon::cuda

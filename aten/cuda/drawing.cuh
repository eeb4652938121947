#pragma once

#include "aten/cuda/cuda_pointwise.cuh"
#include "aten/cuda/random_values.cuh"

// Pointwise operators that draw random numbers: the numbers do not go through memory. A thread
// takes the elements that its blocks of Philox are for, which lie apart by as many as there are
// threads, so that neighbours read and write side by side.
namespace tenon::cuda {

/// Its numbers are the last kDraws inputs of F; bit d of F::kNormal: draw d is normal.
template <class F, class V>
__global__ void __launch_bounds__(kBlock) drawing_kernel(
    const __grid_constant__ PointwiseArguments<V, F::kInputs - F::kDraws, F::kOutputs, F::kScalars>
        a,
    DrawnPart part, uint64_t first_turn, uint64_t last_turn) {
  constexpr int N = kDrawn<V>, kTensors = F::kInputs - F::kDraws;
  const int64_t threads = int64_t{gridDim.x} * kBlock;
  const int64_t thread = int64_t{blockIdx.x} * kBlock + threadIdx.x;
  for (uint64_t turn = first_turn; turn <= last_turn; ++turn) {
    const int64_t start = static_cast<int64_t>(turn) * N * threads + thread - part.begin;
    V in[F::kInputs][N];
    V out[F::kOutputs][N];
#pragma unroll
    for (int k = 0; k < kTensors; ++k) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const int64_t index = start + i * threads;
        V value[1] = {V(1)};
        if (index >= 0 && index < a.geometry.numel) {
          load(a.geometry, a.ins[k], a.numbers[k], static_cast<uint32_t>(index), 1, value);
          round_to_dtype(a.ins[k], value);
        }
        in[k][i] = value[0];
      }
    }
#pragma unroll
    for (int d = 0; d < F::kDraws; ++d) {
      const PhiloxState state{part.state.seed, part.state.offset + d * part.words};
      const Words words = state.block(static_cast<uint64_t>(thread), turn);
      if ((F::kNormal >> d) & 1) {
        const auto numbers = normal_values<V>(words);
#pragma unroll
        for (int i = 0; i < N; ++i) in[kTensors + d][i] = numbers.v[i];
      } else {
        const auto numbers = uniform_values<V>(words);
        // The generator's interval is open below, that of `uniform` above.
#pragma unroll
        for (int i = 0; i < N; ++i) in[kTensors + d][i] = numbers.v[i] < V(1) ? numbers.v[i] : V(0);
      }
    }
#pragma unroll
    for (int i = 0; i < N; ++i) {
      V arguments[F::kInputs], results[F::kOutputs];
#pragma unroll
      for (int k = 0; k < F::kInputs; ++k) arguments[k] = in[k][i];
      F::template apply<V>(arguments, a.scalars, results);
#pragma unroll
      for (int k = 0; k < F::kOutputs; ++k) out[k][i] = results[k];
    }
#pragma unroll
    for (int k = 0; k < F::kOutputs; ++k) {
#pragma unroll
      for (int i = 0; i < N; ++i) {
        const int64_t index = start + i * threads;
        if (index < 0 || index >= a.geometry.numel) continue;
        V value[1] = {out[k][i]};
        round_to_dtype(a.outs[k], value);
        store(a.geometry, a.outs[k], static_cast<uint32_t>(index), 1, value);
      }
    }
  }
}

/// A DrawingPart: functor F as pointwise_part's, with `kDraws` and `kNormal`.
template <class F, ComputeType C>
void drawing_part(const PointwisePlan& plan, const Scalar* scalars, const DrawnPart& part,
                  CUstream_st* stream) {
  using V = typename ValueOf<C>::type;
  const auto a = detail::describe_arguments<C, F::kInputs - F::kDraws, F::kOutputs, F::kScalars>(
      plan, scalars);
  const int64_t per_turn = int64_t{part.blocks} * kBlock * kDrawn<V>;
  const auto first = static_cast<uint64_t>(part.begin / per_turn),
             last = static_cast<uint64_t>((part.begin + plan.numel - 1) / per_turn);
  launch(drawing_kernel<F, V>, part.blocks, kBlock, 0, stream, a, part, first, last);
}

}  // namespace tenon::cuda

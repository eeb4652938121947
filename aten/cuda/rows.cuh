#pragma once

#include "aten/cuda/convert.cuh"
#include "aten/cuda/launch.h"
#include "aten/cuda/warp.cuh"

// Kernels that work on rows of contiguous elements: blockDim.x threads, a power of two, on each
// row, and blockDim.y rows in a block. Short rows are read from memory once and kept in registers.
namespace tenon::cuda {

/// Elements of a row that a thread keeps.
inline constexpr int kKept = 8;

struct RowLaunch {
  dim3 grid, block;

  RowLaunch(int64_t rows, int64_t n) {
    block.x = 32;
    while (block.x < kBlock && block.x * kKept < n) block.x *= 2;
    block.y = kBlock / block.x;
    grid.x = blocks_for(rows, block.y);
  }
};

/// for each row of this thread's share: `row` is the same for the threads of a row, and all threads
/// of a block make the same number of turns, so that they may meet at barriers; `row` may be >=
/// rows.
#define TENON_CUDA_ROWS(row, rows)                                                            \
  for (int64_t row##_base = int64_t{blockIdx.x} * blockDim.y, row = row##_base + threadIdx.y; \
       row##_base < (rows);                                                                   \
       row##_base += int64_t{gridDim.x} * blockDim.y, row = row##_base + threadIdx.y)

template <class V>
__device__ V sum_row(V value) {
  return combine_row(value, [](V a, V b) { return a + b; });
}

/// A thread's elements of a row, at threadIdx.x + k blockDim.x: in registers where they fit, else
/// read again each time.
template <class T, class V>
class RowReader {
 public:
  __device__ RowReader(const T* row, int64_t n)
      : row_(row), n_(n), kept_(n <= int64_t{blockDim.x} * kKept) {
    if (!kept_) return;
#pragma unroll
    for (int k = 0; k < kKept; ++k) {
      const int64_t i = threadIdx.x + int64_t{k} * blockDim.x;
      values_[k] = i < n_ ? convert<V>(row_[i]) : V(0);
    }
  }

  /// f(index in the row, value) for each.
  template <class F>
  __device__ void each(F f) const {
    if (kept_) {
#pragma unroll
      for (int k = 0; k < kKept; ++k) {
        const int64_t i = threadIdx.x + int64_t{k} * blockDim.x;
        if (i < n_) f(i, values_[k]);
      }
      return;
    }
    for (int64_t i = threadIdx.x; i < n_; i += blockDim.x) f(i, convert<V>(row_[i]));
  }

 private:
  const T* row_;
  int64_t n_;
  bool kept_;
  V values_[kKept];
};

}  // namespace tenon::cuda

#pragma once

#include "aten/core/tensor_base.h"
#include "aten/cuda/device.h"
#include "aten/cuda/error.h"
#include "aten/cuda/stream.h"

namespace tenon::cuda {

/// Where a kernel for a tensor runs: makes the tensor's GPU current for the scope, and knows the
/// calling thread's stream on it.
class LaunchScope {
 public:
  explicit LaunchScope(Device device) : guard_(device), stream_(current_stream(device.index())) {}
  explicit LaunchScope(const TensorBase& t) : LaunchScope(t.device()) {}
  const Stream& stream() const { return stream_; }
  operator CUstream_st*() const { return stream_.handle(); }

 private:
  CUDAGuard guard_;
  Stream stream_;
};

inline constexpr int kBlock = 256;  ///< threads of a block where nothing asks for another number

/// Blocks of `per_block` that cover n; capped, so kernels must stride over the grid.
inline unsigned blocks_for(int64_t n, int64_t per_block = kBlock, int64_t cap = int64_t{1} << 20) {
  const int64_t blocks = (n + per_block - 1) / per_block;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks < cap ? blocks : cap);
}

}  // namespace tenon::cuda

/// for (int64_t i : the indices of [0, n) that fall to this thread)
#define TENON_CUDA_LOOP(i, n)                                               \
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < (n); \
       i += int64_t{gridDim.x} * blockDim.x)

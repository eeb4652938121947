#pragma once

#include <concepts>
#include <utility>

#include "aten/core/tensor_base.h"
#include "aten/cuda/cuda_device.h"
#include "aten/cuda/cuda_error.h"
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

/// A stream and where in the source it was named, for the error of a launch that is refused.
struct LaunchStream {
  CUstream_st* handle;
  const char* file;
  int line;

  template <class S>
  requires std::convertible_to<const S&, CUstream_st*>
  LaunchStream(const S& stream, const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : handle(stream), file(file), line(line) {}
};

/// Runs a kernel on the current GPU: `grid` blocks of `block` threads, each block with
/// `shared_bytes` of dynamic shared memory. The arguments are converted to the kernel's parameters.
/// Throws Error naming the caller's place if the launch is refused.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, size_t shared_bytes,
            LaunchStream stream, Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments),
                "one argument for each of the kernel's parameters");
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream.handle;
  const cudaError_t status =
      cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
  if (TENON_UNLIKELY(status != cudaSuccess))
    detail::raise_cuda(status, "a kernel's launch", stream.file, stream.line);
}

}  // namespace tenon::cuda

/// for (int64_t i : the indices of [0, n) that fall to this thread)
#define TENON_CUDA_LOOP(i, n)                                               \
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < (n); \
       i += int64_t{gridDim.x} * blockDim.x)

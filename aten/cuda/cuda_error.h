#pragma once

#include <cuda_runtime_api.h>

#include "aten/core/error.h"

namespace tenon::cuda::detail {

/// Error "[cuda] cudaMalloc(&p, n) failed at aten/cuda/cuda_allocator.cpp:12: out of memory
/// (cudaErrorMemoryAllocation)".
[[noreturn]] TENON_API void raise_cuda(cudaError_t status, const char* call, const char* file,
                                       int line);

}  // namespace tenon::cuda::detail

/// Calls a function of the CUDA runtime; throws Error naming the call and its place unless it
/// succeeds.
#define TENON_CUDA_CHECK(...)                                                            \
  do {                                                                                   \
    const cudaError_t tenon_status = (__VA_ARGS__);                                      \
    if (TENON_UNLIKELY(tenon_status != cudaSuccess)) {                                   \
      ::tenon::cuda::detail::raise_cuda(tenon_status, #__VA_ARGS__, __FILE__, __LINE__); \
    }                                                                                    \
  } while (false)

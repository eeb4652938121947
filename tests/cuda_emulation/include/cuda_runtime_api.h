#pragma once

// Stands in for the CUDA runtime and for what nvcc knows of the device language when the sources of
// aten/cuda are compiled as C++ to run on the CPU (../README.md): what they use, no more.
#define TENON_CUDA_EMULATED 1

#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

// ---- the language ----

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
// Nothing rather than an attribute: system headers write __attribute__((__noinline__)).
#define __noinline__
#define __grid_constant__
#define __launch_bounds__(...)
// One block runs at a time, so that a static variable is what its threads share.
#define __shared__ static

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

struct CUstream_st;
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace cuda_emulation {

void barrier();
/// Meets the lanes of `mask`, each with up to 16 bytes of its own; `result` is what lane `from`
/// brought, which has to be one of them.
void exchange(unsigned mask, const void* value, size_t size, int from, void* result);
/// The lanes of `mask` whose predicate holds.
unsigned ballot(unsigned mask, bool predicate);
int lane();
void* dynamic_shared();
[[noreturn]] void trap();

enum class Access : uint8_t { Read, Write, Atomic, FloatAtomic };
/// Checks an access of the running kernel, or of the host.
void access(const void* address, size_t size, Access kind);

struct Launch {
  dim3 grid, block;
  size_t shared_bytes;
  void* kernel;
  void (*call)(void* kernel, const void* parameters);
  void (*release)(const void* parameters);
  const void* parameters;
  size_t parameter_bytes;
};

/// For a caching allocator, in the order of the stream: of `capacity` bytes at `data`, the first
/// `used` may be accessed from there on and hold no values yet.
void mark_used(void* data, size_t used, size_t capacity, CUstream_st* stream);

}  // namespace cuda_emulation

constexpr int warpSize = 32;

#define __syncthreads() ::cuda_emulation::barrier()

#define __trap() ::cuda_emulation::trap()

inline void __threadfence() {}
inline void __threadfence_block() {}

inline void __syncwarp(unsigned mask = 0xffffffffu) { cuda_emulation::ballot(mask, true); }

namespace cuda_emulation {

template <class T>
T lane_value(unsigned mask, T value, int from) {
  static_assert(sizeof(T) <= 16);
  T result;
  exchange(mask, &value, sizeof value, from, &result);
  return result;
}

}  // namespace cuda_emulation

template <class T>
T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
  const int self = cuda_emulation::lane();
  return cuda_emulation::lane_value(mask, value, self / width * width + from % width);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int self = cuda_emulation::lane(), from = self + static_cast<int>(delta);
  return cuda_emulation::lane_value(mask, value, from / width == self / width ? from : self);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int self = cuda_emulation::lane(), from = self - static_cast<int>(delta);
  return cuda_emulation::lane_value(mask, value, from >= self / width * width ? from : self);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const int self = cuda_emulation::lane(), from = self ^ bits;
  return cuda_emulation::lane_value(mask, value, from / width <= self / width ? from : self);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return cuda_emulation::ballot(mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) == mask;
}

int atomicAdd(int* to, int value);
unsigned atomicAdd(unsigned* to, unsigned value);
unsigned long long atomicAdd(unsigned long long* to, unsigned long long value);
float atomicAdd(float* to, float value);
double atomicAdd(double* to, double value);
unsigned atomicCAS(unsigned* to, unsigned expected, unsigned value);
unsigned long long atomicCAS(unsigned long long* to, unsigned long long expected,
                             unsigned long long value);
int atomicMax(int* to, int value);
int atomicMin(int* to, int value);
unsigned atomicOr(unsigned* to, unsigned value);

template <class A, class B>
requires(std::is_arithmetic_v<A>&& std::is_arithmetic_v<B>) constexpr std::common_type_t<A, B> min(
    A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
}
template <class A, class B>
requires(std::is_arithmetic_v<A>&& std::is_arithmetic_v<B>) constexpr std::common_type_t<A, B> max(
    A a, B b) {
  using T = std::common_type_t<A, B>;
  return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
}

float rsqrtf(float x);
double rsqrt(double x);
float erfinvf(float x);
double erfinv(double x);
void sincospi(double x, double* sine, double* cosine);
#define __sincosf sincosf
inline float __uint_as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }

// ---- the runtime ----

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDevice = 101,
  cudaErrorNotReady = 600,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
};
using cudaStream_t = struct CUstream_st*;
using cudaEvent_t = struct CUevent_st*;

enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault,
};
enum cudaDeviceAttr {
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem;
};
inline constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDefault = 0,
                          cudaEventDisableTiming = 2, cudaHostAllocPortable = 1;

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
};

extern "C" {
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr what, int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest);
cudaError_t cudaMalloc(void** data, size_t bytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaMemGetInfo(size_t* available, size_t* total);
cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned flags);
cudaError_t cudaFreeHost(void* data);
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                size_t bytes, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
}

namespace cuda_emulation {

/// Owns launch.parameters.
cudaError_t enqueue(const Launch& launch, cudaStream_t stream);

}  // namespace cuda_emulation

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  using Tuple = std::tuple<std::remove_cv_t<Parameters>...>;
  cuda_emulation::Launch launch;
  launch.grid = config->gridDim;
  launch.block = config->blockDim;
  launch.shared_bytes = config->dynamicSmemBytes;
  launch.kernel = reinterpret_cast<void*>(kernel);
  launch.call = [](void* function, const void* parameters) {
    std::apply(reinterpret_cast<void (*)(Parameters...)>(function),
               *static_cast<const Tuple*>(parameters));
  };
  launch.release = [](const void* parameters) { delete static_cast<const Tuple*>(parameters); };
  launch.parameters =
      new Tuple(static_cast<std::remove_cv_t<Parameters>>(std::forward<Arguments>(arguments))...);
  launch.parameter_bytes = sizeof(Tuple);
  return cuda_emulation::enqueue(launch, config->stream);
}

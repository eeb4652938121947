// The test of the tests: kernels and host code with one mistake each, which the emulation has to
// find. `defects NAME` makes the mistake and ends with its report; `defects none` runs what is the
// same but for the mistakes and prints "no defect".
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "aten/cuda/atomic.cuh"
#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/launch.h"
#include "aten/cuda/pinned.h"

namespace tenon::cuda {
namespace {

constexpr int kThreads = 64;

/// Device memory with the host's values in it.
template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : count_(values.size()), memory_(bytes()) {
    TENON_CUDA_CHECK(
        cudaMemcpyAsync(data(), values.data(), bytes(), cudaMemcpyHostToDevice, current_stream()));
  }
  T* data() const { return memory_.template as<T>(); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    TENON_CUDA_CHECK(
        cudaMemcpyAsync(values.data(), data(), bytes(), cudaMemcpyDeviceToHost, current_stream()));
    current_stream().synchronize();
    return values;
  }
  size_t bytes() const { return count_ * sizeof(T); }

 private:
  size_t count_;
  Workspace memory_;
};

std::vector<float> counting(int n) {
  std::vector<float> values(static_cast<size_t>(n));
  for (int i = 0; i < n; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i);
  return values;
}

void expect(bool good) {
  if (good) return;
  std::puts("wrong result");
  std::exit(1);
}

void finish() { current_stream().synchronize(); }

// ---- kernels ----

template <bool kBroken>
__global__ void reverse_kernel(float* data) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = data[threadIdx.x];
  if (!kBroken) __syncthreads();
  data[threadIdx.x] = values[kThreads - 1 - threadIdx.x];
}

template <bool kBroken>
__global__ void tree_kernel(float* data) {
  __shared__ float values[kThreads];
  values[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    if (!kBroken) __syncthreads();
  }
  __syncthreads();
  data[threadIdx.x] = values[0];
}

template <bool kBroken>
__global__ void uneven_barrier_kernel(float* data) {
  if (kBroken && threadIdx.x >= 40) return;
  __syncthreads();
  data[threadIdx.x] += 1;
}

template <bool kBroken>
__global__ void different_barriers_kernel(float* data) {
  if (kBroken && threadIdx.x % 2 == 1) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  data[threadIdx.x] += 1;
}

template <bool kBroken>
__global__ void tail_kernel(float* data, int64_t n) {
  TENON_CUDA_LOOP(i, kBroken ? n + 1 : n) data[i] += 1;
}

template <class Index>
__global__ void offset_kernel(float* data, Index row, Index columns) {
  // Before the start of the memory again, as if it were an element of a huge tensor.
  data[static_cast<int64_t>(row * columns) - int64_t{row} * columns] += 1;
}

struct alignas(16) Four {
  float values[4];
};
__global__ void vector_kernel(const float* in, float* out) {
  *reinterpret_cast<Four*>(out) = *reinterpret_cast<const Four*>(in);
}

__global__ void copy_kernel(const float* in, float* out, int64_t n) {
  TENON_CUDA_LOOP(i, n) out[i] = in[i];
}

__global__ void dynamic_kernel(float* data) {
  auto* values = static_cast<float*>(cuda_emulation::dynamic_shared());
  values[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = values[kThreads - 1 - threadIdx.x];
}

template <bool kBroken>
__global__ void static_kernel(float* data) {
  __shared__ float values[kBroken ? kThreads - 1 : kThreads];
  values[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = values[kThreads / 2];
}

template <bool kBroken>
__global__ void count_kernel(int* count) {
  if (kBroken) {
    *count += 1;
  } else {
    atomicAdd(count, 1);
  }
}

template <bool kBroken>
__global__ void uninitialised_kernel(float* data) {
  __shared__ float values[kThreads];
  if (!kBroken || threadIdx.x != 7) values[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = values[kThreads - 1 - threadIdx.x];
}

/// Sums of warps; broken, half of the lanes that the mask names stay away.
template <bool kBroken>
__global__ void warp_kernel(float* data) {
  if (kBroken && threadIdx.x % 32 >= 16) return;
  float sum = data[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  data[threadIdx.x] = sum;
}

/// Groups of eight lanes add up their elements, every other group of a warp; broken, all name the
/// lanes of the first.
template <bool kBroken>
__global__ void group_kernel(float* data) {
  const unsigned first = kBroken ? 0 : 8 * threadIdx.y, mask = 0xffu << first;
  float sum = data[8 * threadIdx.y + threadIdx.x];
  if (threadIdx.y % 2 == 0) return;
  for (int bits = 4; bits > 0; bits /= 2) sum += __shfl_xor_sync(mask, sum, bits);
  if (threadIdx.x == 0) data[8 * threadIdx.y] = sum;
}

/// Neighbours within a warp, through shared memory.
template <bool kBroken>
__global__ void warp_shared_kernel(float* data) {
  __shared__ float values[32];
  values[threadIdx.x] = data[threadIdx.x];
  if (!kBroken) __syncwarp();
  data[threadIdx.x] = values[(threadIdx.x + 1) % 32];
}

/// Numbers in the order in which threads come: no race, and no result to rely on.
__global__ void order_kernel(int* next, int* out) { out[threadIdx.x] = atomicAdd(next, 1); }

__global__ void check_kernel(const int* index, int n) {
  TENON_KERNEL_CHECK(index[threadIdx.x] < n);
}

// ---- the mistakes ----

template <class Kernel, class... Arguments>
void run(Kernel kernel, unsigned grid, Arguments... arguments) {
  launch(kernel, grid, kThreads, 0, current_stream(), arguments...);
}

void missing_barrier(bool broken) {
  const OnDevice<float> data(counting(kThreads));
  run(broken ? reverse_kernel<true> : reverse_kernel<false>, 1, data.data());
  expect(data.read()[0] == kThreads - 1);
}

void missing_barrier_in_loop(bool broken) {
  const OnDevice<float> data(std::vector<float>(kThreads, 1));
  run(broken ? tree_kernel<true> : tree_kernel<false>, 1, data.data());
  expect(data.read()[0] == kThreads);
}

void uneven_barrier(bool broken) {
  const OnDevice<float> data(counting(kThreads));
  run(broken ? uneven_barrier_kernel<true> : uneven_barrier_kernel<false>, 1, data.data());
  expect(data.read()[63] == 64);
}

void different_barriers(bool broken) {
  const OnDevice<float> data(counting(kThreads));
  run(broken ? different_barriers_kernel<true> : different_barriers_kernel<false>, 1, data.data());
  expect(data.read()[63] == 64);
}

void tail(bool broken) {
  const OnDevice<float> data(counting(100));
  run(broken ? tail_kernel<true> : tail_kernel<false>, 2, data.data(), 100);
  expect(data.read()[99] == 100);
}

void overflow(bool broken) {
  const OnDevice<float> data({0});
  if (broken) {
    launch(offset_kernel<int>, 1, 1, 0, current_stream(), data.data(), 70000, 40000);
  } else {
    launch(offset_kernel<int64_t>, 1, 1, 0, current_stream(), data.data(), 70000, 40000);
  }
  expect(data.read()[0] == 1);
}

void vector_load(bool broken) {
  const OnDevice<float> in(counting(8)), out(counting(4));
  launch(vector_kernel, 1, 1, 0, current_stream(), in.data() + (broken ? 1 : 4), out.data());
  expect(out.read()[0] == 4);
}

void host_pointer(bool broken) {
  const std::vector<float> host = counting(10);
  const OnDevice<float> in(host), out(std::vector<float>(10));
  run(copy_kernel, 1, broken ? host.data() : in.data(), out.data(), 10);
  expect(out.read()[9] == 9);
}

void other_device(bool broken) {
  const OnDevice<float> out(std::vector<float>(10));
  const CUDAGuard other(broken ? 1 : 0);
  const OnDevice<float> in(counting(10));
  const CUDAGuard back(0);
  current_stream(1).synchronize();
  run(copy_kernel, 1, in.data(), out.data(), 10);
  expect(out.read()[9] == 9);
}

void shared_too_small(bool broken) {
  const OnDevice<float> data(counting(kThreads));
  launch(dynamic_kernel, 1, kThreads, (broken ? kThreads / 2 : kThreads) * sizeof(float),
         current_stream(), data.data());
  expect(data.read()[0] == kThreads - 1);
}

void static_shared_too_small(bool broken) {
  const OnDevice<float> data(counting(kThreads));
  run(broken ? static_kernel<true> : static_kernel<false>, 1, data.data());
  expect(data.read()[0] == kThreads / 2);
}

void dropped_atomics(bool broken) {
  const OnDevice<int> count({0});
  run(broken ? count_kernel<true> : count_kernel<false>, 3, count.data());
  expect(count.read()[0] == 3 * kThreads);
}

void uninitialised_shared(bool broken) {
  const OnDevice<float> data(counting(kThreads));
  run(broken ? uninitialised_kernel<true> : uninitialised_kernel<false>, 1, data.data());
  expect(data.read()[0] == kThreads - 1);
}

void missing_lanes(bool broken) {
  const OnDevice<float> data(std::vector<float>(kThreads, 1));
  run(broken ? warp_kernel<true> : warp_kernel<false>, 1, data.data());
  expect(data.read()[40] == 32);
}

void wrong_group(bool broken) {
  const OnDevice<float> data(std::vector<float>(32, 1));
  launch(broken ? group_kernel<true> : group_kernel<false>, 1, dim3(8, 4), 0, current_stream(),
         data.data());
  expect(data.read()[8] == 8 && data.read()[31] == 1);
}

void missing_warp_sync(bool broken) {
  const OnDevice<float> data(counting(32));
  launch(broken ? warp_shared_kernel<true> : warp_shared_kernel<false>, 1, 32, 0, current_stream(),
         data.data());
  expect(data.read()[31] == 0);
}

void order_of_threads(bool broken) {
  const OnDevice<int> next({0}), out(std::vector<int>(size_t{kThreads}));
  if (broken) run(order_kernel, 1, next.data(), out.data());
  finish();
}

void host_access(bool broken) {
  const OnDevice<float> data(counting(4));
  finish();
  const float value = broken ? *const_cast<volatile float*>(data.data()) : data.read()[0];
  expect(value == 0);
}

/// Work of a side stream that nothing waits for. Twenty times, since half of the time such work is
/// done early.
void wrong_stream(bool broken) {
  for (int i = 0; i < 20; ++i) {
    const OnDevice<float> in(counting(10)), out(std::vector<float>(10));
    const Stream side = stream_from_pool();
    Event ready, done;
    ready.record(current_stream());
    ready.wait(side);
    launch(copy_kernel, 1, kThreads, 0, side, in.data(), out.data(), 10);
    done.record(side);
    if (!broken) done.wait(current_stream());
    expect(out.read()[9] == 9);
    side.synchronize();
  }
}

/// Memory that a side stream still reads goes back to the allocator.
void early_free(bool broken) {
  for (int i = 0; i < 20; ++i) {
    const OnDevice<float> out(std::vector<float>(10));
    const Stream side = stream_from_pool();
    Event ready, done;
    {
      const OnDevice<float> in(counting(10));
      ready.record(current_stream());
      ready.wait(side);
      launch(copy_kernel, 1, kThreads, 0, side, in.data(), out.data(), 10);
      if (!broken) {
        done.record(side);
        done.wait(current_stream());
      }
    }
    finish();
    side.synchronize();
    expect(out.read()[9] == 9);
  }
}

/// The host writes to a pinned buffer that a copy still reads.
void pinned_too_early(bool broken) {
  const TensorBase host = empty_pinned({10}, kFloat);
  auto* values = static_cast<float*>(host.mutable_data_ptr());
  const OnDevice<float> to(std::vector<float>(10));
  for (int i = 0; i < 10; ++i) values[i] = 1;
  TENON_CUDA_CHECK(
      cudaMemcpyAsync(to.data(), values, 40, cudaMemcpyHostToDevice, current_stream()));
  if (!broken) finish();
  values[9] = 2;
  expect(to.read()[9] == 1);
}

void failed_check(bool broken) {
  const OnDevice<int> index(std::vector<int>(kThreads, 5));
  run(check_kernel, 1, index.data(), broken ? 5 : 6);
  finish();
}

void refused_launch(bool broken) {
  const OnDevice<float> data(counting(4));
  launch(vector_kernel, 1, broken ? 2048 : 1, 0, current_stream(), data.data(), data.data());
  finish();
}

const struct {
  const char* name;
  void (*run)(bool broken);
} kDefects[] = {
    {"different_barriers", different_barriers},
    {"dropped_atomics", dropped_atomics},
    {"early_free", early_free},
    {"failed_check", failed_check},
    {"host_access", host_access},
    {"host_pointer", host_pointer},
    {"missing_barrier", missing_barrier},
    {"missing_barrier_in_loop", missing_barrier_in_loop},
    {"missing_lanes", missing_lanes},
    {"missing_warp_sync", missing_warp_sync},
    {"order_of_threads", order_of_threads},
    {"other_device", other_device},
    {"overflow", overflow},
    {"pinned_too_early", pinned_too_early},
    {"refused_launch", refused_launch},
    {"shared_too_small", shared_too_small},
    {"static_shared_too_small", static_shared_too_small},
    {"tail", tail},
    {"uneven_barrier", uneven_barrier},
    {"uninitialised_shared", uninitialised_shared},
    {"vector_load", vector_load},
    {"wrong_group", wrong_group},
    {"wrong_stream", wrong_stream},
};

}  // namespace
}  // namespace tenon::cuda

int main(int argc, char** argv) {
  const std::string wanted = argc == 2 ? argv[1] : "";
  bool known = wanted == "none";
  try {
    for (const auto& defect : tenon::cuda::kDefects) {
      known |= wanted == defect.name;
      if (wanted == defect.name) defect.run(true);
      if (wanted == "none") defect.run(false);
    }
  } catch (const tenon::Error& error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
  std::puts(known ? "no defect" : "there is no defect of this name");
  return 0;
}

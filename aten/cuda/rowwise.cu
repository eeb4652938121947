// What all generated row kernels share: how rows are shared out, and the sums over them.
#include "aten/cuda/rowwise.cuh"

#include "aten/cuda/cuda_device.h"

namespace tenon::cuda::rows {
namespace {

/// blockDim.x columns of a block, blockDim.y threads each.
__global__ void __launch_bounds__(kBlock)
    add_groups_kernel(const double* partial, int64_t groups, int64_t length, double* sums) {
  __shared__ double shared[kBlock];
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  double sum = 0;
  if (i < length) {
    for (int64_t g = threadIdx.y; g < groups; g += blockDim.y) sum += partial[g * length + i];
  }
  shared[threadIdx.y * blockDim.x + threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || i >= length) return;
  for (unsigned y = 1; y < blockDim.y; ++y) sum += shared[y * blockDim.x + threadIdx.x];
  sums[i] = sum;
}

constexpr int64_t kSharedLength = 32768;  ///< of a row that several blocks may share
constexpr int64_t kSectionLength = 8192;  ///< of a row, for a block, at least
constexpr int64_t kSectionStep = kMaxThreads * kChunk<float>;  ///< what a block takes at a time
constexpr int64_t kSumBytes = int64_t{64} << 20;  ///< of the groups' sums of a column operand

}  // namespace

Shape::Shape(const native::RowCall& call, bool sums) {
  block.x = 1;
  while (!call.neighbours && block.x < kMaxThreads && int64_t{block.x} * kKept < call.length)
    block.x *= 2;
  // Rows of several warps meet at barriers: one for a block.
  block.y = block.x <= 32 ? kBlock / block.x : 1;
  in_registers = call.length <= int64_t{block.x} * kKept;
  int64_t cap = int64_t{1} << 20;
  if (sums) {
    // As many groups as fill the GPU, and no more: each has sums of its own.
    const int64_t row_bytes = std::max<int64_t>(call.length, 1) * int64_t{sizeof(double)};
    cap = int64_t{device_properties(call.device.index()).multiprocessors} * 4;
    cap = std::clamp<int64_t>(kSumBytes / (row_bytes * block.y), 1, cap);
  }
  grid.x = blocks_for(call.rows, block.y, cap);
  grid.y = 1;
  section = std::max<int64_t>(call.length, 1);
  if (block.x < kMaxThreads || call.length < kSharedLength) return;
  // Two blocks for each multiprocessor, where they have enough to do for the launches to pay.
  const int64_t wanted =
      int64_t{device_properties(call.device.index()).multiprocessors} * 2 / grid.x;
  const int64_t blocks = std::min(wanted, call.length / kSectionLength);
  if (blocks < 2) return;
  section = (call.length + blocks - 1) / blocks;
  section = (section + kSectionStep - 1) / kSectionStep * kSectionStep;
  grid.y = static_cast<unsigned>((call.length + section - 1) / section);
}

void add_groups(const double* partial, int64_t groups, int64_t length, double* sums,
                CUstream_st* stream) {
  if (length == 0) return;
  dim3 block(32);
  while (block.x > 1 && block.x / 2 >= length) block.x /= 2;
  block.y = kBlock / block.x;
  launch(add_groups_kernel, static_cast<unsigned>((length + block.x - 1) / block.x), block, 0,
         stream, partial, groups, length, sums);
}

bool lies_in_chunks(const native::RowCall& call, const native::RowCall::Operand& operand,
                    int chunk) {
  if (!operand.data || operand.stride == 0) return true;
  const size_t bytes = element_size(operand.dtype) * static_cast<size_t>(chunk);
  if (operand.stride != 1 || reinterpret_cast<uintptr_t>(operand.data) % bytes != 0) return false;
  if (!operand.outer) return true;
  return std::all_of(operand.outer, operand.outer + call.ndim,
                     [&](int64_t stride) { return stride % chunk == 0; });
}

}  // namespace tenon::cuda::rows

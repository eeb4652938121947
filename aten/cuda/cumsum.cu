// Sums of the elements so far along a dimension. Floats are added up in double, integers in int64.
#include "tenon/native/cumsum.h"

#include "aten/common/contiguous.h"
#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/scan.cuh"

namespace tenon {
namespace {

constexpr int kItems = 4;  ///< neighbouring elements of a thread
constexpr int64_t kTile = int64_t{cuda::kBlock} * kItems;

template <class T>
using Sum = std::conditional_t<cuda::kIsComplex<T>, thrust::complex<double>,
                               std::conditional_t<std::is_integral_v<T>, int64_t, double>>;

/// sums[row][part] = the sum of `per_part` elements; blocks (part, row).
template <class T>
__global__ void __launch_bounds__(cuda::kBlock)
    parts_kernel(const T* in, Sum<T>* sums, int64_t length, int64_t per_part) {
  using V = Sum<T>;
  const int64_t row = blockIdx.y, begin = blockIdx.x * per_part;
  const int64_t end = min(begin + per_part, length);
  V sum(0), total;
  for (int64_t i = begin + threadIdx.x; i < end; i += cuda::kBlock)
    sum = cuda::plus(sum, cuda::convert<V>(in[row * length + i]));
  cuda::scan_block(sum, total);
  if (threadIdx.x == 0) sums[row * gridDim.x + blockIdx.x] = total;
}

/// One block for each row: the sums of its parts become those of the parts before.
template <class V>
__global__ void __launch_bounds__(cuda::kBlock) before_kernel(V* sums, int64_t parts) {
  V before(0);
  for (int64_t start = 0; start < parts; start += cuda::kBlock) {
    const int64_t part = start + threadIdx.x;
    V* const at = sums + blockIdx.x * parts + part;
    V total;
    const V sum = cuda::scan_block(part < parts ? *at : V(0), total);
    if (part < parts) *at = cuda::plus(before, sum);
    before = cuda::plus(before, total);
  }
}

/// Blocks (part, row); `sums` has what comes before each part of a row, or is null where there is
/// one.
template <class T>
__global__ void __launch_bounds__(cuda::kBlock)
    rows_kernel(const T* in, T* out, const Sum<T>* sums, int64_t rows, int64_t length,
                int64_t per_part) {
  using V = Sum<T>;
  const int64_t begin = blockIdx.x * per_part, end = min(begin + per_part, length);
  for (int64_t row = blockIdx.y; row < rows; row += gridDim.y) {
    V before = sums ? sums[row * gridDim.x + blockIdx.x] : V(0);
    for (int64_t start = begin; start < end; start += kTile) {
      const int64_t first = start + threadIdx.x * kItems;
      V so_far[kItems], sum(0), total;
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        if (first + j < end) sum = cuda::plus(sum, cuda::convert<V>(in[row * length + first + j]));
        so_far[j] = sum;
      }
      const V below = cuda::plus(before, cuda::scan_block(sum, total));
#pragma unroll
      for (int j = 0; j < kItems; ++j) {
        if (first + j < end)
          out[row * length + first + j] = cuda::convert<T>(cuda::plus(below, so_far[j]));
      }
      before = cuda::plus(before, total);
    }
  }
}

/// One thread for each row whose elements lie `inner` apart: neighbours read neighbouring elements.
template <class T>
__global__ void columns_kernel(const T* in, T* out, int64_t rows, int64_t length, int64_t inner) {
  TENON_CUDA_LOOP(r, rows) {
    const int64_t start = r / inner * length * inner + r % inner;
    Sum<T> sum(0);
    for (int64_t i = 0; i < length; ++i) {
      sum = cuda::plus(sum, cuda::convert<Sum<T>>(in[start + i * inner]));
      out[start + i * inner] = cuda::convert<T>(sum);
    }
  }
}

template <class T>
void launch_rows(const T* in, T* out, int64_t rows, int64_t length, const cuda::LaunchScope& scope,
                 DeviceIndex device) {
  constexpr int64_t kMaxRows = 65535;  // of a grid's second dimension
  // Where rows do not fill the GPU, several blocks share one.
  const int64_t wanted = int64_t{cuda::device_properties(device).multiprocessors} * 4 / rows;
  const int64_t parts = std::max<int64_t>(1, std::min(wanted, length / (4 * kTile)));
  const int64_t per_part = (length + parts - 1) / parts;
  const dim3 grid(static_cast<unsigned>(parts),
                  static_cast<unsigned>(std::min<int64_t>(rows, kMaxRows)));
  const cuda::Workspace sums(parts == 1 ? 0 : static_cast<size_t>(rows * parts) * sizeof(Sum<T>),
                             device);
  if (parts > 1) {
    cuda::launch(parts_kernel<T>, grid, cuda::kBlock, 0, scope, in, sums.as<Sum<T>>(), length,
                 per_part);
    cuda::launch(before_kernel<Sum<T>>, static_cast<unsigned>(rows), cuda::kBlock, 0, scope,
                 sums.as<Sum<T>>(), parts);
  }
  cuda::launch(rows_kernel<T>, grid, cuda::kBlock, 0, scope, in, out, sums.as<const Sum<T>>(), rows,
               length, per_part);
}

}  // namespace

void native::cumsum_cuda(const Tensor& self, int64_t dim, std::optional<ScalarType>,
                         const Tensor& out) {
  if (out.numel() == 0) return;
  const TensorBase in = native::contiguous(self, out.scalar_type());
  const native::ContiguousOutput result(out);
  const native::DimSplit split(in.sizes(), dim);
  const cuda::LaunchScope scope(out);
  TENON_DISPATCH_SWITCH(
      out.scalar_type(), "cumsum",
      TENON_FORALL_INTEGRAL(TENON_DISPATCH_CASE) TENON_FORALL_FLOATING(TENON_DISPATCH_CASE)
          TENON_FORALL_REDUCED_FLOATING(TENON_DISPATCH_CASE)
              TENON_FORALL_COMPLEX(TENON_DISPATCH_CASE),
      {
        using T = cuda::device_t<scalar_t>;
        const auto* from = static_cast<const T*>(in.const_data_ptr());
        if (split.inner == 1) {
          launch_rows(from, result.data<T>(), split.outer, split.length, scope,
                      out.device().index());
        } else {
          const int64_t rows = split.outer * split.inner;
          cuda::launch(columns_kernel<T>, cuda::blocks_for(rows), cuda::kBlock, 0, scope, from,
                       result.data<T>(), rows, split.length, split.inner);
        }
      });
  result.copy_back();
}

}  // namespace tenon

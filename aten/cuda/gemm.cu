// Matrix products: by cuBLASLt where it can, else (integers, operands without a dense dimension
// that are not worth a copy, empty sums) by a plain tiled kernel.
#include "aten/cuda/gemm.h"

#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/launch.h"

namespace tenon::cuda {
namespace {

constexpr int kTile = 16;

template <class T>
struct Matrices {
  T* data;
  int64_t batch, row, col;

  explicit Matrices(const MatrixBatch& m)
      : data(static_cast<T*>(m.data)), batch(m.batch), row(m.row), col(m.col) {}
  __device__ T* at(int64_t l, int64_t i, int64_t j) const {
    return data + l * batch + i * row + j * col;
  }
};

template <class T, class V>
__global__ void product_kernel(ProductSizes s, V alpha, Matrices<const T> a, Matrices<const T> b,
                               V beta, bool add, Matrices<T> out, const T* bias) {
  alignas(16) __shared__ unsigned char raw_a[kTile * kTile * sizeof(V)],
      raw_b[kTile * kTile * sizeof(V)];
  V* tile_a = reinterpret_cast<V*>(raw_a);
  V* tile_b = reinterpret_cast<V*>(raw_b);
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int64_t i = int64_t{blockIdx.y} * kTile + ty, j = int64_t{blockIdx.x} * kTile + tx;
  for (int64_t l = blockIdx.z; l < s.batch; l += gridDim.z) {
    V sum(0);
    for (int64_t at = 0; at < s.k; at += kTile) {
      tile_a[ty * kTile + tx] = i < s.m && at + tx < s.k ? convert<V>(*a.at(l, i, at + tx)) : V(0);
      tile_b[ty * kTile + tx] = j < s.n && at + ty < s.k ? convert<V>(*b.at(l, at + ty, j)) : V(0);
      __syncthreads();
      for (int t = 0; t < kTile; ++t)
        sum = plus(sum, times(tile_a[ty * kTile + t], tile_b[t * kTile + tx]));
      __syncthreads();
    }
    if (i < s.m && j < s.n) {
      V value = times(alpha, sum);
      if (add) value = plus(value, times(beta, convert<V>(*out.at(l, i, j))));
      if (bias) value = plus(value, convert<V>(bias[j]));
      *out.at(l, i, j) = convert<T>(value);
    }
  }
}

template <class T>
void plain_product(ProductSizes s, const Scalar& alpha, MatrixBatch a, MatrixBatch b,
                   const Scalar& beta, MatrixBatch out, const void* bias, CUstream_st* stream) {
  using V = opmath_type<T>;
  using D = device_t<T>;
  const auto tiles = [](int64_t n) { return static_cast<unsigned>((n + kTile - 1) / kTile); };
  TENON_CHECK(s.m < (int64_t{1} << 19),
              "[mm] at most 524287 rows are supported for this dtype, got ", s.m);
  const dim3 grid(tiles(s.n), tiles(s.m), static_cast<unsigned>(std::min<int64_t>(s.batch, 65535)));
  launch(product_kernel<D, V>, grid, dim3(kTile, kTile), 0, stream, s, number_as<V>(alpha),
         Matrices<const D>(a), Matrices<const D>(b), number_as<V>(beta), !beta.equal(0),
         Matrices<D>(out), static_cast<const D*>(bias));
}

}  // namespace

void matrix_product(const char* op, ScalarType dtype, ProductSizes s, const Scalar& alpha,
                    MatrixBatch a, MatrixBatch b, const Scalar& beta, MatrixBatch out,
                    Device device, const void* bias) {
  if (s.batch == 0 || s.m == 0 || s.n == 0) return;
  const LaunchScope scope(device);
  if (is_differentiable(dtype) && s.k > 0 &&
      detail::cublaslt_product(dtype, s, alpha, a, b, beta, out, bias, device, scope)) {
    return;
  }
  TENON_CHECK_NOT_IMPLEMENTED(dtype != kBool, "[", op, "] is not implemented for ", dtype);
  TENON_DISPATCH_ALL(dtype, op, {
    if constexpr (!std::is_same_v<scalar_t, bool>) {
      plain_product<scalar_t>(s, alpha, a, b, beta, out, bias, scope);
    }
  });
}

}  // namespace tenon::cuda

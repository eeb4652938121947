// Softmax and log-softmax along a dimension, and their gradients; half types in float.
#include "aten/cuda/dense.h"
#include "aten/cuda/rows.cuh"
#include "tenon/native/_log_softmax.h"
#include "tenon/native/_log_softmax_backward_data.h"
#include "tenon/native/_softmax.h"
#include "tenon/native/_softmax_backward_data.h"

namespace tenon {
namespace {

/// exp(x - max) / sum, or x - max - log(sum)
template <bool kLog, class V>
__device__ V result_of(V x, V max, V sum, V log_sum) {
  return kLog ? x - max - log_sum : std::exp(x - max) / sum;
}

/// y (dy - total), or dy - exp(y) total
template <bool kLog, class V>
__device__ V gradient_of(V dy, V y, V total) {
  return kLog ? dy - std::exp(y) * total : y * (dy - total);
}

/// Like fmax, but NaN wins.
template <class V>
__device__ V max_of(V a, V b) {
  return a > b || a != a ? a : b;
}

template <class T, class Out, bool kLog>
__global__ void rows_kernel(const T* in, Out* out, int64_t rows, int64_t n) {
  using V = cuda::accumulate_t<T>;
  TENON_CUDA_ROWS(row, rows) {
    const cuda::RowReader<T, V> x(in + row * n, row < rows ? n : 0);
    V max = -std::numeric_limits<V>::infinity();
    x.each([&](int64_t, V v) { max = max_of(max, v); });
    max = cuda::combine_row(max, max_of<V>);
    V sum = 0;
    x.each([&](int64_t, V v) { sum += std::exp(v - max); });
    sum = cuda::sum_row(sum);
    const V log_sum = std::log(sum);
    x.each([&](int64_t i, V v) {
      out[row * n + i] = cuda::convert<Out>(result_of<kLog>(v, max, sum, log_sum));
    });
  }
}

/// One thread for each row whose elements lie `inner` apart: neighbours read neighbouring elements.
template <class T, class Out, bool kLog>
__global__ void columns_kernel(const T* in, Out* out, int64_t outer, int64_t n, int64_t inner) {
  using V = cuda::accumulate_t<T>;
  TENON_CUDA_LOOP(r, outer * inner) {
    const int64_t start = r / inner * n * inner + r % inner;
    V max = -std::numeric_limits<V>::infinity(), sum = 0;
    for (int64_t i = 0; i < n; ++i) max = max_of(max, cuda::convert<V>(in[start + i * inner]));
    for (int64_t i = 0; i < n; ++i) sum += std::exp(cuda::convert<V>(in[start + i * inner]) - max);
    const V log_sum = std::log(sum);
    for (int64_t i = 0; i < n; ++i) {
      const V v = cuda::convert<V>(in[start + i * inner]);
      out[start + i * inner] = cuda::convert<Out>(result_of<kLog>(v, max, sum, log_sum));
    }
  }
}

template <class T, bool kLog>
__global__ void rows_backward_kernel(const T* grad, const T* output, T* out, int64_t rows,
                                     int64_t n) {
  using V = cuda::accumulate_t<T>;
  TENON_CUDA_ROWS(row, rows) {
    const int64_t count = row < rows ? n : 0;
    const cuda::RowReader<T, V> dy(grad + row * n, count);
    V total = 0;
    dy.each([&](int64_t i, V g) { total += kLog ? g : g * cuda::convert<V>(output[row * n + i]); });
    total = cuda::sum_row(total);
    dy.each([&](int64_t i, V g) {
      out[row * n + i] =
          cuda::convert<T>(gradient_of<kLog>(g, cuda::convert<V>(output[row * n + i]), total));
    });
  }
}

template <class T, bool kLog>
__global__ void columns_backward_kernel(const T* grad, const T* output, T* out, int64_t outer,
                                        int64_t n, int64_t inner) {
  using V = cuda::accumulate_t<T>;
  TENON_CUDA_LOOP(r, outer * inner) {
    const int64_t start = r / inner * n * inner + r % inner;
    V total = 0;
    for (int64_t i = 0; i < n; ++i) {
      const V g = cuda::convert<V>(grad[start + i * inner]);
      total += kLog ? g : g * cuda::convert<V>(output[start + i * inner]);
    }
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = start + i * inner;
      out[at] = cuda::convert<T>(
          gradient_of<kLog>(cuda::convert<V>(grad[at]), cuda::convert<V>(output[at]), total));
    }
  }
}

template <bool kLog, class T, class Out>
void launch_forward(const TensorBase& x, const cuda::DenseOutput& y, const cuda::DimSplit& s,
                    CUstream_st* stream) {
  const T* in = x.data_ptr<T>();
  Out* out = y.data<Out>();
  if (s.inner == 1) {
    const cuda::RowLaunch rows(s.outer, s.length);
    cuda::launch(rows_kernel<T, Out, kLog>, rows.grid, rows.block, 0, stream, in, out, s.outer,
                 s.length);
  } else {
    cuda::launch(columns_kernel<T, Out, kLog>, cuda::blocks_for(s.outer * s.inner), cuda::kBlock, 0,
                 stream, in, out, s.outer, s.length, s.inner);
  }
}

template <bool kLog>
void forward(const Tensor& self, int64_t dim, const Tensor& out) {
  if (self.numel() == 0) return;
  const TensorBase x = cuda::contiguous(self);
  const cuda::DenseOutput y(out);
  const cuda::DimSplit split(self.sizes(), dim);
  const cuda::LaunchScope scope(out);
  if (self.scalar_type() == kHalf && out.scalar_type() == kFloat) {
    launch_forward<kLog, Half, float>(x, y, split, scope);
  } else {
    TENON_DISPATCH_FLOATING_AND_REDUCED(self.scalar_type(), "softmax", {
      launch_forward<kLog, scalar_t, scalar_t>(x, y, split, scope);
    });
  }
  y.finish();
}

template <bool kLog>
void backward(const Tensor& grad_output, const Tensor& output, int64_t dim, const Tensor& out) {
  if (output.numel() == 0) return;
  const TensorBase y = cuda::contiguous(output),
                   dy = cuda::contiguous(grad_output, output.scalar_type());
  const cuda::DenseOutput dx(out, output.scalar_type());
  const cuda::DimSplit s(output.sizes(), dim);
  const cuda::LaunchScope scope(out);
  TENON_DISPATCH_FLOATING_AND_REDUCED(output.scalar_type(), "softmax_backward", {
    if (s.inner == 1) {
      const cuda::RowLaunch rows(s.outer, s.length);
      cuda::launch(rows_backward_kernel<scalar_t, kLog>, rows.grid, rows.block, 0, scope,
                   dy.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), dx.data<scalar_t>(), s.outer,
                   s.length);
    } else {
      cuda::launch(columns_backward_kernel<scalar_t, kLog>, cuda::blocks_for(s.outer * s.inner),
                   cuda::kBlock, 0, scope, dy.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(),
                   dx.data<scalar_t>(), s.outer, s.length, s.inner);
    }
  });
  dx.finish();
}

}  // namespace

void native::_softmax_cuda(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  forward<false>(self, dim, out);
}
void native::_log_softmax_cuda(const Tensor& self, int64_t dim, bool, const Tensor& out) {
  forward<true>(self, dim, out);
}
void native::_softmax_backward_data_cuda(const Tensor& grad_output, const Tensor& output,
                                         int64_t dim, ScalarType, const Tensor& out) {
  backward<false>(grad_output, output, dim, out);
}
void native::_log_softmax_backward_data_cuda(const Tensor& grad_output, const Tensor& output,
                                             int64_t dim, ScalarType, const Tensor& out) {
  backward<true>(grad_output, output, dim, out);
}

}  // namespace tenon

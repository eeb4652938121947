// Softmax and log-softmax along a dimension, and their gradients; half types in float.
#include "aten/cuda/dense.h"
#include "aten/cuda/rows.cuh"
#include "tenon/native/_log_softmax.h"
#include "tenon/native/_log_softmax_backward_data.h"
#include "tenon/native/_softmax.h"
#include "tenon/native/_softmax_backward_data.h"

namespace tenon {
namespace {

/// What is known of some elements: sum = sum_i exp(x_i - max). A NaN is in the sum.
template <class V>
struct ExpSum {
  V max = -std::numeric_limits<V>::infinity(), sum = 0;

  /// One exp, whether the element is a new maximum or not.
  __device__ __forceinline__ void add(V x) {
    const V smaller = x == max ? V(1) : std::exp(-std::abs(x - max));
    if (x > max) {
      sum = sum * smaller + 1;
      max = x;
    } else {
      sum += smaller;
    }
  }
  /// The same whichever comes first.
  static __device__ __forceinline__ ExpSum combine(const ExpSum& a, const ExpSum& b) {
    const bool first = a.max >= b.max;
    const V most = first ? a.max : b.max, least = first ? b.max : a.max;
    const V smaller = least == most ? V(1) : std::exp(least - most);
    return {most, (first ? a.sum : b.sum) + (first ? b.sum : a.sum) * smaller};
  }
};

/// exp(x - max) / sum, or x - max - log(sum)
template <bool kLog, class V>
struct Result {
  V max, of_sum;  // 1 / sum, or its logarithm

  explicit __device__ Result(const ExpSum<V>& total) : max(total.max) {
    // Of rows with +infinity, and of those with nothing but -infinity, all results are NaN.
    const V sum = total.sum + (max - max);
    of_sum = kLog ? std::log(sum) : V(1) / sum;
  }
  __device__ __forceinline__ V of(V x) const {
    return kLog ? x - max - of_sum : std::exp(x - max) * of_sum;
  }
};

/// y (dy - total), or dy - exp(y) total
template <bool kLog, class V>
__device__ V gradient_of(V dy, V y, V total) {
  return kLog ? dy - std::exp(y) * total : y * (dy - total);
}

template <class T, class Out, bool kLog>
struct SoftmaxOp {
  using Element = T;
  using Value = cuda::accumulate_t<T>;
  using Acc = ExpSum<Value>;
  using Values = Value[1][cuda::kWidth<T>];
  static constexpr int kOperands = 1;
  const T* operands[1];
  Out* out;

  static __device__ Value absent() { return -std::numeric_limits<Value>::infinity(); }
  __device__ Acc identity() const { return {}; }
  __device__ __forceinline__ void add(Acc& acc, const cuda::Piece&, const Values& x) const {
#pragma unroll
    for (const Value& v : x[0]) acc.add(v);
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const { return Acc::combine(a, b); }
  __device__ Result<kLog, Value> total(const Acc& acc) const { return Result<kLog, Value>(acc); }
  __device__ __forceinline__ void write(const Result<kLog, Value>& total, const cuda::Piece& p,
                                        const Values& x) const {
    Value y[cuda::kWidth<T>];
#pragma unroll
    for (int j = 0; j < cuda::kWidth<T>; ++j) y[j] = total.of(x[0][j]);
    cuda::store_piece(out, p.start, p, y);
  }
  __device__ void finish(const Result<kLog, Value>&, int64_t) const {}
};

/// One thread for each row whose elements lie `inner` apart: neighbours read neighbouring elements.
template <class T, class Out, bool kLog>
__global__ void columns_kernel(const T* in, Out* out, int64_t outer, int64_t n, int64_t inner) {
  using V = cuda::accumulate_t<T>;
  TENON_CUDA_LOOP(r, outer * inner) {
    const int64_t start = r / inner * n * inner + r % inner;
    ExpSum<V> sum;
    for (int64_t i = 0; i < n; ++i) sum.add(cuda::convert<V>(in[start + i * inner]));
    const Result<kLog, V> result(sum);
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = start + i * inner;
      out[at] = cuda::convert<Out>(result.of(cuda::convert<V>(in[at])));
    }
  }
}

template <class T, bool kLog>
struct SoftmaxBackwardOp {
  using Element = T;
  using Value = cuda::accumulate_t<T>;
  using Acc = Value;  // of dy y, or of dy
  using Values = Value[2][cuda::kWidth<T>];
  static constexpr int kOperands = 2;
  const T* operands[2];  // dy, y
  T* out;

  static __device__ Value absent() { return 0; }
  __device__ Acc identity() const { return 0; }
  __device__ __forceinline__ void add(Acc& acc, const cuda::Piece&, const Values& v) const {
#pragma unroll
    for (int j = 0; j < cuda::kWidth<T>; ++j) acc += kLog ? v[0][j] : v[0][j] * v[1][j];
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const { return a + b; }
  __device__ Value total(const Acc& acc) const { return acc; }
  __device__ __forceinline__ void write(const Value& total, const cuda::Piece& p,
                                        const Values& v) const {
    Value dx[cuda::kWidth<T>];
#pragma unroll
    for (int j = 0; j < cuda::kWidth<T>; ++j) dx[j] = gradient_of<kLog>(v[0][j], v[1][j], total);
    cuda::store_piece(out, p.start, p, dx);
  }
  __device__ void finish(const Value&, int64_t) const {}
};

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
                    const cuda::LaunchScope& scope) {
  const T* in = x.data_ptr<T>();
  Out* out = y.data<Out>();
  if (s.inner == 1) {
    cuda::run_rows(SoftmaxOp<T, Out, kLog>{{in}, out}, s.outer, s.length, scope);
  } else {
    cuda::launch(columns_kernel<T, Out, kLog>, cuda::blocks_for(s.outer * s.inner), cuda::kBlock, 0,
                 scope, in, out, s.outer, s.length, s.inner);
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
      cuda::run_rows(
          SoftmaxBackwardOp<scalar_t, kLog>{{dy.data_ptr<scalar_t>(), y.data_ptr<scalar_t>()},
                                            dx.data<scalar_t>()},
          s.outer, s.length, scope);
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

// Layer normalisation over rows of n elements; half types in float.
//   y = (x - mean) rstd w + b,  rstd = 1 / sqrt(mean((x - mean)^2) + eps)
#include "aten/cuda/allocator.h"
#include "aten/cuda/dense.h"
#include "aten/cuda/moments.cuh"
#include "aten/cuda/rows.cuh"
#include "aten/meta/layer_norm.h"
#include "tenon/native/native_layer_norm.h"
#include "tenon/native/native_layer_norm_backward.h"

namespace tenon {
namespace {

template <class T, class V>
struct NormOp {
  using Element = T;
  using Value = V;
  using Acc = cuda::Moments<V>;
  using Values = V[1][cuda::kWidth<T>];
  static constexpr int kOperands = 1, kN = cuda::kWidth<T>;
  const T* operands[1];
  const V *weight, *bias;  // either may be null
  T* out;
  V *means, *rstds;
  V eps;

  struct Total {
    V mean, rstd;
  };

  static __device__ V absent() { return 0; }
  __device__ Acc identity() const { return {}; }
  /// The piece's own mean and squares first: one division for all of it.
  __device__ __forceinline__ void add(Acc& acc, const cuda::Piece& p, const Values& x) const {
    // Distances from an element of the piece are small beside a mean that is far from 0.
    V pivot = x[0][0];
    if (p.from > 0) {
#pragma unroll
      for (int j = 1; j < kN; ++j) {
        if (j == p.from) pivot = x[0][j];
      }
    }
    V sum = 0;
#pragma unroll
    for (int j = 0; j < kN; ++j) sum += p.has(j) ? x[0][j] - pivot : V(0);
    const V count = static_cast<V>(p.count()), mean = sum / count;
    V squares = 0;
#pragma unroll
    for (int j = 0; j < kN; ++j) {
      const V distance = (x[0][j] - pivot) - mean;
      squares += p.has(j) ? distance * distance : V(0);
    }
    acc.join({{count}, {pivot, mean}, {squares}});
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const { return Acc::combine(a, b); }
  __device__ Total total(const Acc& acc) const {
    const V variance = (acc.m2.high + acc.m2.low) / (acc.count.high + acc.count.low);
    return {acc.mean.high + acc.mean.low, V(1) / std::sqrt(variance + eps)};
  }
  __device__ __forceinline__ void write(const Total& total, const cuda::Piece& p,
                                        const Values& x) const {
    V w[kN], b[kN], y[kN];
    if (weight) cuda::load_piece(weight, p.first, p, w);
    if (bias) cuda::load_piece(bias, p.first, p, b);
#pragma unroll
    for (int j = 0; j < kN; ++j) {
      y[j] = (x[0][j] - total.mean) * total.rstd;
      if (weight) y[j] *= w[j];
      if (bias) y[j] += b[j];
    }
    cuda::store_piece(out, p.start, p, y);
  }
  __device__ void finish(const Total& total, int64_t row) const {
    means[row] = total.mean;
    rstds[row] = total.rstd;
  }
};

/// With h = (x - mean) rstd and g = dy w: dx = rstd (g - mean(g) - h mean(g h))
template <class T, class V>
struct NormBackwardOp {
  using Element = T;
  using Value = V;
  struct Acc {
    V g, gh;
  };
  using Values = V[2][cuda::kWidth<T>];
  static constexpr int kOperands = 2, kN = cuda::kWidth<T>;
  const T* operands[2];             // dy, x
  const V *means, *rstds, *weight;  // the last may be null
  T* out;
  int64_t n;

  static __device__ V absent() { return 0; }
  __device__ Acc identity() const { return {0, 0}; }
  /// f(j, g, h) for the piece's elements
  template <class F>
  __device__ __forceinline__ void each(const cuda::Piece& p, const Values& v, V rstd, F f) const {
    const V mean = means[p.row];
    V w[kN];
    if (weight) cuda::load_piece(weight, p.first, p, w);
#pragma unroll
    for (int j = 0; j < kN; ++j) {
      // Outside of the row dy is 0, x - mean may be anything but NaN.
      f(j, weight ? v[0][j] * w[j] : v[0][j], (v[1][j] - mean) * rstd);
    }
  }
  __device__ __forceinline__ void add(Acc& acc, const cuda::Piece& p, const Values& v) const {
    each(p, v, rstds[p.row], [&](int, V g, V h) {
      acc.g += g;
      acc.gh += g * h;
    });
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const { return {a.g + b.g, a.gh + b.gh}; }
  __device__ Acc total(const Acc& acc) const {
    return {acc.g / static_cast<V>(n), acc.gh / static_cast<V>(n)};
  }
  __device__ __forceinline__ void write(const Acc& mean_of, const cuda::Piece& p,
                                        const Values& v) const {
    const V rstd = rstds[p.row];
    V dx[kN];
    each(p, v, rstd, [&](int j, V g, V h) { dx[j] = rstd * (g - mean_of.g - h * mean_of.gh); });
    cuda::store_piece(out, p.start, p, dx);
  }
  __device__ void finish(const Acc&, int64_t) const {}
};

/// Sums over the rows of split blockIdx.y: partial[split][0][n] of dy h, partial[split][1][n] of
/// dy. threadIdx.x runs over pieces of 16 bytes, threadIdx.y over rows.
template <class T, class V>
__global__ void __launch_bounds__(cuda::kBlock)
    parameters_kernel(const T* grad, const T* in, const V* means, const V* rstds, V* partial,
                      int64_t rows, int64_t n, int64_t per_split) {
  constexpr int kN = cuda::kWidth<T>;
  __shared__ V shared[2][kN][cuda::kBlock];  // neighbours lie side by side: no bank conflicts
  const int64_t column = (int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kN;
  const int64_t begin = int64_t{blockIdx.y} * per_split, end = min(begin + per_split, rows);
  V dot[kN] = {}, sum[kN] = {};
  const cuda::Piece piece{0, column, column, 0, static_cast<int>(min(int64_t{kN}, n - column))};
  if (column < n) {
    for (int64_t row = begin + threadIdx.y; row < end; row += blockDim.y) {
      V dy[kN], x[kN];
      cuda::load_piece(grad, row * n + column, piece, dy);
      cuda::load_piece(in, row * n + column, piece, x);
      const V mean = means[row], rstd = rstds[row];
#pragma unroll
      for (int j = 0; j < kN; ++j) {
        dot[j] += dy[j] * (x[j] - mean) * rstd;
        sum[j] += dy[j];
      }
    }
  }
  const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
#pragma unroll
  for (int j = 0; j < kN; ++j) {
    shared[0][j][thread] = dot[j];
    shared[1][j][thread] = sum[j];
  }
  __syncthreads();
  if (threadIdx.y != 0 || column >= n) return;
  for (unsigned other = thread + blockDim.x; other < cuda::kBlock; other += blockDim.x) {
#pragma unroll
    for (int j = 0; j < kN; ++j) {
      dot[j] += shared[0][j][other];
      sum[j] += shared[1][j][other];
    }
  }
  cuda::store_piece(partial, 2 * int64_t{blockIdx.y} * n + column, piece, dot);
  cuda::store_piece(partial, (2 * int64_t{blockIdx.y} + 1) * n + column, piece, sum);
}

/// Either output may be null.
template <class V>
__global__ void add_splits_kernel(const V* partial, int64_t splits, int64_t n, V* weight, V* bias) {
  TENON_CUDA_LOOP(i, n) {
    V dot = 0, sum = 0;
    for (int64_t s = 0; s < splits; ++s) {
      dot += partial[2 * s * n + i];
      sum += partial[(2 * s + 1) * n + i];
    }
    if (weight) weight[i] = dot;
    if (bias) bias[i] = sum;
  }
}

TensorBase parameter(const std::optional<Tensor>& t, ScalarType type) {
  return t && t->defined() ? cuda::contiguous(*t, type) : TensorBase();
}

template <class V>
const V* pointer(const TensorBase& t) {
  return t.defined() ? t.data_ptr<V>() : nullptr;
}

ScalarType accumulate_type(ScalarType t) { return t == kDouble ? kDouble : kFloat; }

}  // namespace

void native::native_layer_norm_cuda(const Tensor& input, IntArrayRef normalized_shape,
                                    const std::optional<Tensor>& weight,
                                    const std::optional<Tensor>& bias, double eps,
                                    const Tensor& out, const Tensor& mean, const Tensor& rstd) {
  const int64_t n = numel_of(normalized_shape), rows = mean.numel();
  if (rows == 0) return;
  const ScalarType type = accumulate_type(input.scalar_type());
  const TensorBase x = cuda::contiguous(input), w = parameter(weight, type),
                   b = parameter(bias, type);
  const cuda::DenseOutput y(out), means(mean, type), rstds(rstd, type);
  const cuda::LaunchScope scope(out);
  TENON_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), "native_layer_norm", {
    using V = opmath_t<scalar_t>;
    cuda::run_rows(NormOp<scalar_t, V>{{x.data_ptr<scalar_t>()},
                                       pointer<V>(w),
                                       pointer<V>(b),
                                       y.data<scalar_t>(),
                                       means.data<V>(),
                                       rstds.data<V>(),
                                       static_cast<V>(eps)},
                   rows, n, scope);
  });
  y.finish();
  means.finish();
  rstds.finish();
}

/// Gradients of input, weight and bias; those not in the mask are undefined.
std::tuple<Tensor, Tensor, Tensor> native::native_layer_norm_backward_cuda(
    const Tensor& grad_out, const Tensor& input, IntArrayRef normalized_shape, const Tensor& mean,
    const Tensor& rstd, const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
    std::array<bool, 3> output_mask) {
  meta::check_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd,
                                  weight && weight->defined() ? &*weight : nullptr);
  const int64_t n = numel_of(normalized_shape), rows = mean.numel();
  const ScalarType type = accumulate_type(input.scalar_type());
  const auto dtype_of = [&](const std::optional<Tensor>& p) {
    return p && p->defined() ? p->scalar_type() : input.scalar_type();
  };
  std::tuple<Tensor, Tensor, Tensor> grads;
  auto& [grad_input, grad_weight, grad_bias] = grads;
  if (output_mask[0]) grad_input = empty(input.sizes(), input.scalar_type(), input.device());
  if (output_mask[1]) grad_weight = empty(normalized_shape, dtype_of(weight), input.device());
  if (output_mask[2]) grad_bias = empty(normalized_shape, dtype_of(bias), input.device());

  const TensorBase x = cuda::contiguous(input),
                   dy = cuda::contiguous(grad_out, input.scalar_type());
  const TensorBase w = parameter(weight, type), means = cuda::contiguous(mean, type),
                   rstds = cuda::contiguous(rstd, type);
  const cuda::LaunchScope scope(input);
  TENON_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), "native_layer_norm_backward", {
    using V = opmath_t<scalar_t>;
    if (output_mask[0] && input.numel() > 0) {
      cuda::run_rows(NormBackwardOp<scalar_t, V>{{dy.data_ptr<scalar_t>(), x.data_ptr<scalar_t>()},
                                                 means.data_ptr<V>(),
                                                 rstds.data_ptr<V>(),
                                                 pointer<V>(w),
                                                 grad_input.data_ptr<scalar_t>(),
                                                 n},
                     rows, n, scope);
    }
    if ((output_mask[1] || output_mask[2]) && n > 0) {
      const int64_t splits = std::clamp<int64_t>(rows / 64, 1, 128);
      const int64_t per_split = (rows + splits - 1) / splits;
      const cuda::Workspace partial(static_cast<size_t>(2 * splits * n) * sizeof(V));
      const int64_t pieces = (n + cuda::kWidth<scalar_t> - 1) / cuda::kWidth<scalar_t>;
      dim3 block(1);
      while (block.x < 32 && block.x < pieces) block.x *= 2;
      block.y = cuda::kBlock / block.x;
      const dim3 grid(static_cast<unsigned>((pieces + block.x - 1) / block.x),
                      static_cast<unsigned>(splits));
      cuda::launch(parameters_kernel<scalar_t, V>, grid, block, 0, scope, dy.data_ptr<scalar_t>(),
                   x.data_ptr<scalar_t>(), means.data_ptr<V>(), rstds.data_ptr<V>(),
                   partial.as<V>(), rows, n, per_split);
      const TensorBase dw =
          output_mask[1] ? empty(normalized_shape, type, input.device()) : TensorBase();
      const TensorBase db =
          output_mask[2] ? empty(normalized_shape, type, input.device()) : TensorBase();
      cuda::launch(add_splits_kernel<V>, cuda::blocks_for(n), cuda::kBlock, 0, scope,
                   partial.as<const V>(), splits, n, dw.defined() ? dw.data_ptr<V>() : nullptr,
                   db.defined() ? db.data_ptr<V>() : nullptr);
      if (dw.defined()) grad_weight = cuda::contiguous(dw, grad_weight.scalar_type());
      if (db.defined()) grad_bias = cuda::contiguous(db, grad_bias.scalar_type());
    }
  });
  return grads;
}

}  // namespace tenon

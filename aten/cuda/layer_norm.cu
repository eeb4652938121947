// Layer normalisation over rows of n elements; half types in float.
//   y = (x - mean) rstd w + b,  rstd = 1 / sqrt(mean((x - mean)^2) + eps)
#include "aten/cuda/allocator.h"
#include "aten/cuda/dense.h"
#include "aten/cuda/rows.cuh"
#include "aten/meta/layer_norm.h"
#include "tenon/native/native_layer_norm.h"
#include "tenon/native/native_layer_norm_backward.h"

namespace tenon {
namespace {

constexpr int kColumns = 32, kRows = 8;

template <class T, class V>
__global__ void forward_kernel(const T* in, const V* weight, const V* bias, T* out, V* means,
                               V* rstds, int64_t rows, int64_t n, V eps) {
  TENON_CUDA_ROWS(row, rows) {
    const cuda::RowReader<T, V> x(in + row * n, row < rows ? n : 0);
    V sum = 0;
    x.each([&](int64_t, V v) { sum += v; });
    const V mean = cuda::sum_row(sum) / static_cast<V>(n);
    V squares = 0;
    x.each([&](int64_t, V v) { squares += (v - mean) * (v - mean); });
    const V rstd = V(1) / std::sqrt(cuda::sum_row(squares) / static_cast<V>(n) + eps);
    x.each([&](int64_t i, V v) {
      const V scaled = (v - mean) * rstd * (weight ? weight[i] : V(1));
      out[row * n + i] = cuda::convert<T>(scaled + (bias ? bias[i] : V(0)));
    });
    if (threadIdx.x == 0 && row < rows) {
      means[row] = mean;
      rstds[row] = rstd;
    }
  }
}

/// With h = (x - mean) rstd and g = dy w: dx = rstd (g - mean(g) - h mean(g h))
template <class T, class V>
__global__ void input_kernel(const T* grad, const T* in, const V* means, const V* rstds,
                             const V* weight, T* out, int64_t rows, int64_t n) {
  TENON_CUDA_ROWS(row, rows) {
    const bool inside = row < rows;
    const V mean = inside ? means[row] : V(0), rstd = inside ? rstds[row] : V(0);
    const cuda::RowReader<T, V> dy(grad + row * n, inside ? n : 0);
    V sum = 0, dot = 0;
    dy.each([&](int64_t i, V g) {
      g *= weight ? weight[i] : V(1);
      sum += g;
      dot += g * (cuda::convert<V>(in[row * n + i]) - mean) * rstd;
    });
    sum = cuda::sum_row(sum) / static_cast<V>(n);
    dot = cuda::sum_row(dot) / static_cast<V>(n);
    dy.each([&](int64_t i, V g) {
      g *= weight ? weight[i] : V(1);
      const V h = (cuda::convert<V>(in[row * n + i]) - mean) * rstd;
      out[row * n + i] = cuda::convert<T>(rstd * (g - sum - h * dot));
    });
  }
}

/// Sums over the rows of split blockIdx.y: partial[split][0][n] of dy h, partial[split][1][n] of
/// dy.
template <class T, class V>
__global__ void parameters_kernel(const T* grad, const T* in, const V* means, const V* rstds,
                                  V* partial, int64_t rows, int64_t n, int64_t per_split) {
  __shared__ V dots[kRows][kColumns + 1], sums[kRows][kColumns + 1];
  const int64_t column = int64_t{blockIdx.x} * kColumns + threadIdx.x;
  const int64_t begin = int64_t{blockIdx.y} * per_split, end = min(begin + per_split, rows);
  V dot = 0, sum = 0;
  if (column < n) {
    for (int64_t row = begin + threadIdx.y; row < end; row += kRows) {
      const V dy = cuda::convert<V>(grad[row * n + column]);
      dot += dy * (cuda::convert<V>(in[row * n + column]) - means[row]) * rstds[row];
      sum += dy;
    }
  }
  dots[threadIdx.y][threadIdx.x] = dot;
  sums[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || column >= n) return;
  for (int r = 1; r < kRows; ++r) {
    dot += dots[r][threadIdx.x];
    sum += sums[r][threadIdx.x];
  }
  partial[(2 * int64_t{blockIdx.y}) * n + column] = dot;
  partial[(2 * int64_t{blockIdx.y} + 1) * n + column] = sum;
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
  const cuda::RowLaunch shape(rows, n);
  TENON_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), "native_layer_norm", {
    using V = opmath_t<scalar_t>;
    cuda::launch(forward_kernel<scalar_t, V>, shape.grid, shape.block, 0, scope,
                 x.data_ptr<scalar_t>(), pointer<V>(w), pointer<V>(b), y.data<scalar_t>(),
                 means.data<V>(), rstds.data<V>(), rows, n, static_cast<V>(eps));
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
      const cuda::RowLaunch shape(rows, n);
      cuda::launch(input_kernel<scalar_t, V>, shape.grid, shape.block, 0, scope,
                   dy.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), means.data_ptr<V>(),
                   rstds.data_ptr<V>(), pointer<V>(w), grad_input.data_ptr<scalar_t>(), rows, n);
    }
    if ((output_mask[1] || output_mask[2]) && n > 0) {
      const int64_t splits = std::clamp<int64_t>(rows / 64, 1, 128);
      const int64_t per_split = (rows + splits - 1) / splits;
      const cuda::Workspace partial(static_cast<size_t>(2 * splits * n) * sizeof(V));
      const dim3 grid(static_cast<unsigned>((n + kColumns - 1) / kColumns),
                      static_cast<unsigned>(splits));
      cuda::launch(parameters_kernel<scalar_t, V>, grid, dim3(kColumns, kRows), 0, scope,
                   dy.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), means.data_ptr<V>(),
                   rstds.data_ptr<V>(), partial.as<V>(), rows, n, per_split);
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

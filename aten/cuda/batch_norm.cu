// Batch normalisation over the channels of [N, C, ...]; half types in float, statistics in double.
//   y = (x - mean_c) invstd_c w_c + b_c,  invstd = 1 / sqrt(var + eps)
#include "aten/cuda/dense.h"
#include "aten/cuda/moments.cuh"
#include "aten/cuda/reduce.cuh"
#include "aten/cuda/rows.cuh"
#include "aten/meta/batch_norm.h"
#include "tenon/native/native_batch_norm.h"
#include "tenon/native/native_batch_norm_backward.h"

namespace tenon {
namespace {

struct ChannelSizes {
  int64_t batch, channels, inner;

  explicit ChannelSizes(const TensorBase& t)
      : batch(t.size(0)), channels(t.size(1)),
        inner(t.numel() == 0 ? 0 : t.numel() / (t.size(0) * t.size(1))) {}
  TENON_HOST_DEVICE int64_t count() const { return batch * inner; }
  TENON_HOST_DEVICE int64_t numel() const { return batch * channels * inner; }
};

/// Reduces a channel to its mean and inverse deviation, and moves the running statistics.
template <class T, class V>
struct StatisticsOp {
  using Acc = cuda::Moments;
  V *means, *invstds, *running_mean, *running_var;  // the last two may be null
  double momentum, eps;

  __device__ Acc identity() const { return {0, 0, 0}; }
  __device__ Acc step(Acc acc, T value, int64_t) const {
    return acc.with(cuda::convert<double>(value));
  }
  __device__ Acc combine(Acc a, Acc b) const { return Acc::combine(a, b); }
  __device__ void store(int64_t c, Acc acc) const {
    means[c] = static_cast<V>(acc.mean);
    invstds[c] = static_cast<V>(1 / sqrt(acc.m2 / acc.count + eps));
    if (running_mean)
      running_mean[c] = static_cast<V>((1 - momentum) * running_mean[c] + momentum * acc.mean);
    if (running_var) {
      const double unbiased = acc.m2 / (acc.count - 1);
      running_var[c] = static_cast<V>((1 - momentum) * running_var[c] + momentum * unbiased);
    }
  }
};

template <class V>
__global__ void invstd_kernel(const V* variance, V* invstd, int64_t channels, double eps) {
  TENON_CUDA_LOOP(c, channels) { invstd[c] = static_cast<V>(1 / sqrt(variance[c] + eps)); }
}

template <class T, class V>
__global__ void normalize_kernel(const T* in, const V* means, const V* invstds, const V* weight,
                                 const V* bias, T* out, ChannelSizes s) {
  TENON_CUDA_LOOP(i, s.numel()) {
    const int64_t c = i / s.inner % s.channels;
    const V scale = invstds[c] * (weight ? weight[c] : V(1));
    out[i] =
        cuda::convert<T>((cuda::convert<V>(in[i]) - means[c]) * scale + (bias ? bias[c] : V(0)));
  }
}

/// One block for each channel: sums[c] = sum dy, dots[c] = sum dy (x - mean).
template <class T, class V>
__global__ void sums_kernel(const T* grad, const T* in, const V* means, double* sums, double* dots,
                            ChannelSizes s) {
  const int64_t c = blockIdx.x;
  const V mean = means[c];
  double sum = 0, dot = 0;
  for (int64_t i = threadIdx.x; i < s.count(); i += blockDim.x) {
    const int64_t at = (i / s.inner * s.channels + c) * s.inner + i % s.inner;
    const V dy = cuda::convert<V>(grad[at]);
    sum += dy;
    dot += dy * (cuda::convert<V>(in[at]) - mean);
  }
  sum = cuda::sum_row(sum);
  dot = cuda::sum_row(dot);
  if (threadIdx.x == 0) {
    sums[c] = sum;
    dots[c] = dot;
  }
}

/// dx = w s (dy - mean(dy) - h s^2 mean(dy h)) with h = x - mean in training; w s dy otherwise.
template <class T, class V>
__global__ void input_kernel(const T* grad, const T* in, const V* means, const V* invstds,
                             const V* weight, const double* sums, const double* dots, T* out,
                             ChannelSizes s, bool train) {
  TENON_CUDA_LOOP(i, s.numel()) {
    const int64_t c = i / s.inner % s.channels;
    const V scale = invstds[c] * (weight ? weight[c] : V(1));
    V value = cuda::convert<V>(grad[i]);
    if (train) {
      const V h = cuda::convert<V>(in[i]) - means[c];
      const auto n = static_cast<double>(s.count());
      value -=
          static_cast<V>(sums[c] / n) + h * invstds[c] * invstds[c] * static_cast<V>(dots[c] / n);
    }
    out[i] = cuda::convert<T>(scale * value);
  }
}

/// dweight = invstd sum(dy h), dbias = sum(dy); either may be null.
template <class V>
__global__ void parameters_kernel(const double* sums, const double* dots, const V* invstds,
                                  V* weight, V* bias, int64_t channels) {
  TENON_CUDA_LOOP(c, channels) {
    if (weight) weight[c] = static_cast<V>(dots[c] * invstds[c]);
    if (bias) bias[c] = static_cast<V>(sums[c]);
  }
}

ScalarType accumulate_type(ScalarType t) { return t == kDouble ? kDouble : kFloat; }

TensorBase parameter(const std::optional<Tensor>& t, ScalarType type) {
  return t && t->defined() ? cuda::contiguous(*t, type) : TensorBase();
}

template <class V>
V* pointer(const TensorBase& t) {
  return t.defined() ? t.data_ptr<V>() : nullptr;
}

/// Bits of all dimensions but the channels.
uint64_t all_but_channels(const TensorBase& t) {
  return ((uint64_t{1} << t.dim()) - 1) & ~uint64_t{2};
}

template <class V>
TensorBase inverse_deviation(const TensorBase& variance, double eps, CUstream_st* stream) {
  const TensorBase invstd = empty(variance.sizes(), variance.scalar_type(), variance.device());
  cuda::launch(invstd_kernel<V>, cuda::blocks_for(variance.numel()), cuda::kBlock, 0, stream,
               variance.data_ptr<V>(), invstd.data_ptr<V>(), variance.numel(), eps);
  return invstd;
}

}  // namespace

void native::native_batch_norm_cuda(const Tensor& input, const std::optional<Tensor>& weight,
                                    const std::optional<Tensor>& bias,
                                    const std::optional<Tensor>& running_mean,
                                    const std::optional<Tensor>& running_var, bool training,
                                    double momentum, double eps, const Tensor& out,
                                    const Tensor& save_mean, const Tensor& save_invstd) {
  if (input.numel() == 0) return;
  const ScalarType type = accumulate_type(input.scalar_type());
  const TensorBase x = cuda::contiguous(input), w = parameter(weight, type),
                   b = parameter(bias, type);
  TensorBase mean = parameter(running_mean, type), var = parameter(running_var, type), invstd;
  const cuda::DenseOutput y(out);
  const ChannelSizes s(x);
  const cuda::LaunchScope scope(input);
  TENON_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), "native_batch_norm", {
    using V = opmath_t<scalar_t>;
    if (training) {
      const TensorBase means = empty(s.channels, type, input.device());
      invstd = empty(s.channels, type, input.device());
      cuda::reduce<scalar_t>(x, all_but_channels(x),
                             StatisticsOp<scalar_t, V>{means.data_ptr<V>(), invstd.data_ptr<V>(),
                                                       pointer<V>(mean), pointer<V>(var), momentum,
                                                       eps});
      // Running statistics of another dtype were moved in a copy.
      if (mean.defined()) cuda::copy(*running_mean, mean);
      if (var.defined()) cuda::copy(*running_var, var);
      mean = means;
    } else {
      invstd = inverse_deviation<V>(var, eps, scope);
    }
    cuda::launch(normalize_kernel<scalar_t, V>, cuda::blocks_for(s.numel()), cuda::kBlock, 0, scope,
                 x.data_ptr<scalar_t>(), mean.data_ptr<V>(), invstd.data_ptr<V>(), pointer<V>(w),
                 pointer<V>(b), y.data<scalar_t>(), s);
  });
  y.finish();
  if (training) {
    cuda::copy(save_mean, mean);
    cuda::copy(save_invstd, invstd);
  }
}

/// Gradients of input, weight and bias; those not in the mask are undefined.
std::tuple<Tensor, Tensor, Tensor> native::native_batch_norm_backward_cuda(
    const Tensor& grad_out, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
    const std::optional<Tensor>& save_mean, const std::optional<Tensor>& save_invstd, bool train,
    double eps, std::array<bool, 3> output_mask) {
  const auto& mean_of = train ? save_mean : running_mean;
  const auto& spread_of = train ? save_invstd : running_var;
  meta::check_batch_norm_backward(grad_out, input, mean_of, spread_of, train);
  const ScalarType type = accumulate_type(input.scalar_type());
  const ScalarType parameter_type =
      weight && weight->defined() ? weight->scalar_type() : input.scalar_type();
  const TensorBase x = cuda::contiguous(input),
                   dy = cuda::contiguous(grad_out, input.scalar_type());
  const TensorBase w = parameter(weight, type), mean = parameter(mean_of, type);
  TensorBase invstd = parameter(spread_of, type);
  const ChannelSizes s(x);
  const cuda::LaunchScope scope(input);

  std::tuple<Tensor, Tensor, Tensor> grads;
  auto& [grad_input, grad_weight, grad_bias] = grads;
  if (output_mask[0]) grad_input = empty(input.sizes(), input.scalar_type(), input.device());
  const TensorBase dw = output_mask[1] ? empty(s.channels, type, input.device()) : TensorBase();
  const TensorBase db = output_mask[2] ? empty(s.channels, type, input.device()) : TensorBase();
  if (s.channels > 0) {
    const cuda::Workspace sums(static_cast<size_t>(2 * s.channels) * sizeof(double));
    double* dots = sums.as<double>() + s.channels;
    TENON_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), "native_batch_norm_backward", {
      using V = opmath_t<scalar_t>;
      if (!train) invstd = inverse_deviation<V>(invstd, eps, scope);
      cuda::launch(sums_kernel<scalar_t, V>, static_cast<unsigned>(s.channels), cuda::kBlock, 0,
                   scope, dy.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), mean.data_ptr<V>(),
                   sums.as<double>(), dots, s);
      if (output_mask[0]) {
        cuda::launch(input_kernel<scalar_t, V>, cuda::blocks_for(s.numel()), cuda::kBlock, 0, scope,
                     dy.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), mean.data_ptr<V>(),
                     invstd.data_ptr<V>(), pointer<V>(w), sums.as<double>(), dots,
                     grad_input.data_ptr<scalar_t>(), s, train);
      }
      cuda::launch(parameters_kernel<V>, cuda::blocks_for(s.channels), cuda::kBlock, 0, scope,
                   sums.as<double>(), dots, invstd.data_ptr<V>(), pointer<V>(dw), pointer<V>(db),
                   s.channels);
    });
  }
  if (dw.defined()) grad_weight = cuda::contiguous(dw, parameter_type);
  if (db.defined()) grad_bias = cuda::contiguous(db, parameter_type);
  return grads;
}

}  // namespace tenon

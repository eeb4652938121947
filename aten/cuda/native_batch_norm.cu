// Batch normalisation over the channels of [N, C, ...]; half types in float, statistics in double.
//   y = (x - mean_c) invstd_c w_c + b_c,  invstd = 1 / sqrt(var + eps)
#include "aten/common/contiguous.h"
#include "aten/cuda/copy.h"
#include "aten/cuda/extent.cuh"
#include "aten/cuda/moments.cuh"
#include "aten/cuda/reduce.cuh"
#include "aten/meta/batch_norm.h"
#include "tenon/native/native_batch_norm.h"
#include "tenon/native/native_batch_norm_backward.h"

namespace tenon {
namespace {

/// Where the channels are in a tensor that lies in memory without gaps, row by row or with the
/// channels last: as [outer, channels, inner].
struct Channels {
  int64_t numel, count;  // count: of elements of a channel
  cuda::Extent channels, inner;

  explicit Channels(const TensorBase& t)
      : numel(t.numel()), count(numel / std::max<int64_t>(t.size(1), 1)),
        channels(t.size(1), numel), inner(inner_size(t), numel) {}
  __device__ __forceinline__ int64_t of(int64_t i) const {
    i = inner.quotient(i);
    return channels.take(i);
  }

 private:
  static int64_t inner_size(const TensorBase& t) {
    return t.numel() == 0 || !t.is_contiguous() ? 1 : t.numel() / (t.size(0) * t.size(1));
  }
};

/// Reduces a channel to its mean and inverse deviation, and moves the running statistics.
template <class T, class V>
struct StatisticsOp {
  using Acc = cuda::Moments<V>;
  V *means, *invstds, *running_mean, *running_var;  // the last two may be null
  double momentum, eps;

  __device__ Acc identity() const { return {}; }
  __device__ Acc step(Acc acc, T value, int64_t) const {
    acc.join(cuda::convert<V>(value));
    return acc;
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const { return Acc::combine(a, b); }
  __device__ void store(int64_t c, const Acc& acc) const {
    const double mean = acc.mean.value(), m2 = acc.m2.value(), count = acc.count.value();
    means[c] = static_cast<V>(mean);
    invstds[c] = static_cast<V>(1 / sqrt(m2 / count + eps));
    if (running_mean)
      running_mean[c] = static_cast<V>((1 - momentum) * running_mean[c] + momentum * mean);
    if (running_var) {
      const double unbiased = m2 / (count - 1);
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
                                 const V* bias, T* out, const __grid_constant__ Channels channels) {
  TENON_CUDA_LOOP(i, channels.numel) {
    const int64_t c = channels.of(i);
    const V scale = invstds[c] * (weight ? weight[c] : V(1));
    out[i] =
        cuda::convert<T>((cuda::convert<V>(in[i]) - means[c]) * scale + (bias ? bias[c] : V(0)));
  }
}

/// Reduces dy, with an input that lies as it does, to mean_dy[c] = mean(dy) and slope[c] = invstd^2
/// mean(dy (x - mean)), and to the gradients of the parameters, dweight = invstd sum(dy (x - mean))
/// and dbias = sum(dy); these may be null.
template <class T, class V>
struct GradientsOp {
  struct Acc {
    double sum, dot;
  };
  const T* in;
  const V *means, *invstds;
  V *mean_dy, *slope, *weight, *bias;
  double count;

  __device__ Acc identity() const { return {0, 0}; }
  __device__ Acc step_at(Acc acc, T grad, int64_t c, int64_t place) const {
    const V dy = cuda::convert<V>(grad);
    return {acc.sum + dy, acc.dot + dy * (cuda::convert<V>(in[place]) - means[c])};
  }
  __device__ Acc combine(const Acc& a, const Acc& b) const {
    return {a.sum + b.sum, a.dot + b.dot};
  }
  __device__ void store(int64_t c, const Acc& acc) const {
    const double invstd = invstds[c];
    mean_dy[c] = static_cast<V>(acc.sum / count);
    slope[c] = static_cast<V>(acc.dot / count * invstd * invstd);
    if (weight) weight[c] = static_cast<V>(acc.dot * invstd);
    if (bias) bias[c] = static_cast<V>(acc.sum);
  }
};

/// dx = w s (dy - mean(dy) - h s^2 mean(dy h)) with h = x - mean in training; w s dy otherwise.
template <class T, class V>
__global__ void input_kernel(const T* grad, const T* in, const V* means, const V* invstds,
                             const V* weight, const V* mean_dy, const V* slope, T* out,
                             const __grid_constant__ Channels channels, bool train) {
  TENON_CUDA_LOOP(i, channels.numel) {
    const int64_t c = channels.of(i);
    const V scale = invstds[c] * (weight ? weight[c] : V(1));
    V value = cuda::convert<V>(grad[i]);
    if (train) value -= mean_dy[c] + (cuda::convert<V>(in[i]) - means[c]) * slope[c];
    out[i] = cuda::convert<T>(scale * value);
  }
}

template <class V>
V* pointer(const TensorBase& t) {
  return t.defined() ? t.data_ptr<V>() : nullptr;
}

/// `t` itself if it is contiguous in some memory format, otherwise a contiguous copy.
TensorBase contiguous_in_any(const TensorBase& t) {
  return native::contiguous_format(t) ? t : native::contiguous(t);
}

/// A new tensor that lies as `t` does.
TensorBase like(const TensorBase& t) {
  return empty_strided(t.sizes(), t.strides(), t.scalar_type(), t.device());
}

/// `t` in the dtype and layout of `model`.
TensorBase laid_out_as(const TensorBase& model, const TensorBase& t) {
  if (t.scalar_type() == model.scalar_type() && t.strides() == model.strides()) return t;
  const TensorBase copy = like(model);
  cuda::copy(copy, t);
  return copy;
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
  const ScalarType type = to_opmath_type(input.scalar_type());
  const TensorBase x = contiguous_in_any(input), w = native::contiguous(weight, type),
                   b = native::contiguous(bias, type);
  TensorBase mean = native::contiguous(running_mean, type),
             var = native::contiguous(running_var, type), invstd;
  const TensorBase y = out.strides() == x.strides() ? TensorBase(out) : like(x);
  const Channels channels(x);
  const cuda::LaunchScope scope(input);
  TENON_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), "native_batch_norm", {
    using V = opmath_type<scalar_t>;
    if (training) {
      const TensorBase means = empty(input.size(1), type, input.device());
      invstd = empty(input.size(1), type, input.device());
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
    cuda::launch(normalize_kernel<scalar_t, V>, cuda::blocks_for(channels.numel), cuda::kBlock, 0,
                 scope, x.data_ptr<scalar_t>(), mean.data_ptr<V>(), invstd.data_ptr<V>(),
                 pointer<V>(w), pointer<V>(b), y.data_ptr<scalar_t>(), channels);
  });
  if (!y.is_same(out)) cuda::copy(out, y);
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
  const ScalarType type = to_opmath_type(input.scalar_type());
  const ScalarType parameter_type =
      weight && weight->defined() ? weight->scalar_type() : input.scalar_type();
  const TensorBase x = contiguous_in_any(input), dy = laid_out_as(x, grad_out);
  const TensorBase w = native::contiguous(weight, type), mean = native::contiguous(mean_of, type);
  TensorBase invstd = native::contiguous(spread_of, type);
  const Channels channels(x);
  const cuda::LaunchScope scope(input);

  std::tuple<Tensor, Tensor, Tensor> grads;
  auto& [grad_input, grad_weight, grad_bias] = grads;
  if (output_mask[0]) grad_input = like(x);
  const TensorBase dw = output_mask[1] ? empty(input.size(1), type, input.device()) : TensorBase();
  const TensorBase db = output_mask[2] ? empty(input.size(1), type, input.device()) : TensorBase();
  if (input.size(1) > 0) {
    const TensorBase sums = empty({2, input.size(1)}, type, input.device());
    TENON_DISPATCH_FLOATING_AND_REDUCED(input.scalar_type(), "native_batch_norm_backward", {
      using V = opmath_type<scalar_t>;
      V* const mean_dy = sums.data_ptr<V>();
      V* const slope = mean_dy + input.size(1);
      if (!train) invstd = inverse_deviation<V>(invstd, eps, scope);
      cuda::reduce<scalar_t>(dy, all_but_channels(dy),
                             GradientsOp<scalar_t, V>{x.data_ptr<scalar_t>(), mean.data_ptr<V>(),
                                                      invstd.data_ptr<V>(), mean_dy, slope,
                                                      pointer<V>(dw), pointer<V>(db),
                                                      static_cast<double>(channels.count)});
      if (output_mask[0]) {
        cuda::launch(input_kernel<scalar_t, V>, cuda::blocks_for(channels.numel), cuda::kBlock, 0,
                     scope, dy.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(), mean.data_ptr<V>(),
                     invstd.data_ptr<V>(), pointer<V>(w), mean_dy, slope,
                     grad_input.data_ptr<scalar_t>(), channels, train);
      }
    });
  }
  if (dw.defined()) grad_weight = native::contiguous(dw, parameter_type);
  if (db.defined()) grad_bias = native::contiguous(db, parameter_type);
  return grads;
}

}  // namespace tenon

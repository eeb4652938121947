#include "tenon/native/native_batch_norm.h"

#include <cmath>
#include <vector>

#include "aten/common/contiguous.h"
#include "aten/common/opmath_type.h"
#include "aten/cpu/batch_norm_shape.h"
#include "aten/iterator/element_copy.h"

namespace tenon {
namespace {

/// running = (1 - momentum) running + momentum value. The change is not counted: the statistics are
/// saved for backward, which in training does not read them.
template <class T>
void update_running(const TensorBase& running, const std::vector<T>& value, double momentum) {
  if (!running.defined()) return;
  const TensorBase values = native::contiguous(running, scalar_type_of<T>);
  T* r = values.data_ptr<T>();
  for (size_t c = 0; c < value.size(); ++c) {
    r[c] = static_cast<T>((1 - momentum) * r[c] + momentum * value[c]);
  }
  if (!values.is_same(running)) native::copy(running, values);
}

template <class T>
void batch_norm(const TensorBase& x, const TensorBase& weight, const TensorBase& bias,
                const TensorBase& running_mean, const TensorBase& running_var, bool training,
                double momentum, double eps, bool last, const TensorBase& y, T* save_mean,
                T* save_invstd) {
  const native::ChannelShape s = native::channel_shape(x, last);
  const int64_t channels = s.channels;
  std::vector<T> a(channels), b(channels);
  std::vector<T> mean(channels, T(0)), invstd(channels);
  if (training) {
    // Around a value of each channel, so that squares of a large mean do not cancel.
    std::vector<T> shift(channels), unbiased(channels);
    for (int64_t c = 0; c < channels; ++c)
      shift[c] = x.data_ptr<T>()[s.channels_last ? c : c * s.inner];
    std::vector<double> sums(channels), squares(channels);
    native::channel_sums<T>(s, x.data_ptr<T>(), nullptr, shift.data(), sums.data(), squares.data());
    const double n = static_cast<double>(s.count());
    for (int64_t c = 0; c < channels; ++c) {
      const double offset = sums[c] / n;
      const double spread = squares[c] / n - offset * offset;
      const double variance = spread < 0 ? 0 : spread;  // NaN stays
      mean[c] = static_cast<T>(shift[c] + offset);
      invstd[c] = static_cast<T>(1 / std::sqrt(variance + eps));
      unbiased[c] = static_cast<T>(variance * (n / (n - 1)));
    }
    update_running(running_mean, mean, momentum);
    update_running(running_var, unbiased, momentum);
    std::copy(mean.begin(), mean.end(), save_mean);
    std::copy(invstd.begin(), invstd.end(), save_invstd);
  } else {
    const TensorBase rm = native::contiguous(running_mean, scalar_type_of<T>);
    const TensorBase rv = native::contiguous(running_var, scalar_type_of<T>);
    for (int64_t c = 0; c < channels; ++c) {
      mean[c] = rm.data_ptr<T>()[c];
      invstd[c] = static_cast<T>(1 / std::sqrt(static_cast<double>(rv.data_ptr<T>()[c]) + eps));
    }
  }
  const T* w = native::data_or_null<T>(weight);
  const T* offset = native::data_or_null<T>(bias);
  for (int64_t c = 0; c < channels; ++c) {
    a[c] = invstd[c] * (w ? w[c] : T(1));
    b[c] = (offset ? offset[c] : T(0)) - mean[c] * a[c];
  }
  native::channel_affine<T>(s, x.data_ptr<T>(), nullptr, a.data(), b.data(), nullptr,
                            y.data_ptr<T>());
}

}  // namespace

void native::native_batch_norm_cpu(const Tensor& input, const std::optional<Tensor>& weight,
                                   const std::optional<Tensor>& bias,
                                   const std::optional<Tensor>& running_mean,
                                   const std::optional<Tensor>& running_var, bool training,
                                   double momentum, double eps, const Tensor& out,
                                   const Tensor& save_mean, const Tensor& save_invstd) {
  if (input.numel() == 0) return;
  const ScalarType type = to_opmath_type(input.scalar_type());
  const bool last = channels_fastest(input);
  const TensorBase x = in_layout(input, type, last);
  const bool direct = out.scalar_type() == type && out.strides() == x.strides();
  const TensorBase y = direct ? static_cast<const TensorBase&>(out)
                              : empty_strided(x.sizes(), x.strides(), type, x.device());
  const auto running = [](const std::optional<Tensor>& t) {
    return t ? static_cast<const TensorBase&>(*t) : TensorBase();
  };
  const ContiguousOutput mean(save_mean, type), invstd(save_invstd, type);
  TENON_DISPATCH_FLOATING(type, "native_batch_norm", {
    batch_norm<scalar_t>(x, contiguous(weight, type), contiguous(bias, type), running(running_mean),
                         running(running_var), training, momentum, eps, last, y,
                         mean.data<scalar_t>(), invstd.data<scalar_t>());
  });
  if (!direct) copy(out, y);
  if (training) {
    mean.copy_back();
    invstd.copy_back();
  }
}

}  // namespace tenon

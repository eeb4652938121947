#include "tenon/native/native_batch_norm_backward.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "aten/common/contiguous.h"
#include "aten/common/opmath_type.h"
#include "aten/cpu/batch_norm_shape.h"
#include "aten/iterator/element_copy.h"
#include "aten/meta/batch_norm.h"

namespace tenon {
namespace {

/// With h = x - mean: dx = w s (dy - mean(dy) - h s^2 mean(dy h)) in training, w s dy otherwise;
/// dweight = s sum(dy h), dbias = sum(dy).
template <class T>
void backward(const TensorBase& dy, const TensorBase& x, const TensorBase& weight,
              const TensorBase& mean, const TensorBase& invstd, bool train, bool last,
              const TensorBase& dx, const TensorBase& dw, const TensorBase& db) {
  const native::ChannelShape s = native::channel_shape(x, last);
  const T* m = mean.data_ptr<T>();
  const T* is = invstd.data_ptr<T>();
  std::vector<double> sums(s.channels, 0.0), dots(s.channels, 0.0);
  if (train || dw.defined() || db.defined()) {
    native::channel_sums<T>(s, x.data_ptr<T>(), dy.data_ptr<T>(), m, sums.data(), dots.data());
  }
  for (int64_t c = 0; c < s.channels; ++c) {
    if (dw.defined()) dw.data_ptr<T>()[c] = static_cast<T>(dots[c] * is[c]);
    if (db.defined()) db.data_ptr<T>()[c] = static_cast<T>(sums[c]);
  }
  if (!dx.defined()) return;
  const T* w = native::data_or_null<T>(weight);
  std::vector<T> a(s.channels), b(s.channels), c2(s.channels);
  const double n = static_cast<double>(s.count());
  for (int64_t c = 0; c < s.channels; ++c) {
    const double scale = static_cast<double>(is[c]) * (w ? w[c] : T(1));
    const double slope = train ? -scale * is[c] * is[c] * dots[c] / n : 0.0;
    a[c] = static_cast<T>(scale);
    c2[c] = static_cast<T>(slope);
    b[c] = train ? static_cast<T>(-scale * sums[c] / n - slope * m[c]) : T(0);
  }
  if (train) {
    native::channel_affine<T>(s, x.data_ptr<T>(), dy.data_ptr<T>(), a.data(), b.data(), c2.data(),
                              dx.data_ptr<T>());
  } else {
    native::channel_affine<T>(s, dy.data_ptr<T>(), nullptr, a.data(), b.data(), nullptr,
                              dx.data_ptr<T>());
  }
}

}  // namespace

/// Gradients of input, weight and bias; those not in the mask are undefined.
std::tuple<Tensor, Tensor, Tensor> native::native_batch_norm_backward_cpu(
    const Tensor& grad_out, const Tensor& input, const std::optional<Tensor>& weight,
    const std::optional<Tensor>& running_mean, const std::optional<Tensor>& running_var,
    const std::optional<Tensor>& save_mean, const std::optional<Tensor>& save_invstd, bool train,
    double eps, std::array<bool, 3> output_mask) {
  const auto& mean_of = train ? save_mean : running_mean;
  const auto& spread_of = train ? save_invstd : running_var;
  meta::check_batch_norm_backward(grad_out, input, mean_of, spread_of, train);
  const ScalarType type = to_opmath_type(input.scalar_type());
  const ScalarType parameter =
      weight && weight->defined() ? weight->scalar_type() : input.scalar_type();
  const bool last = channels_fastest(input);
  const TensorBase x = in_layout(input, type, last), dy = in_layout(grad_out, type, last);
  const TensorBase w = contiguous(weight, type), mean = contiguous(mean_of, type);
  TensorBase invstd = contiguous(spread_of, type);

  std::tuple<Tensor, Tensor, Tensor> grads;
  auto& [grad_input, grad_weight, grad_bias] = grads;
  TensorBase dx, dw, db;
  if (output_mask[0]) dx = empty_strided(x.sizes(), x.strides(), type, x.device());
  if (output_mask[1]) dw = empty(x.size(1), type, x.device());
  if (output_mask[2]) db = empty(x.size(1), type, x.device());
  if (input.numel() == 0) {
    if (dw.defined()) std::memset(dw.data_ptr(), 0, dw.nbytes());
    if (db.defined()) std::memset(db.data_ptr(), 0, db.nbytes());
  } else {
    TENON_DISPATCH_FLOATING(type, "native_batch_norm_backward", {
      if (!train) {
        const TensorBase variance = invstd;
        invstd = empty(x.size(1), type, x.device());
        for (int64_t c = 0; c < x.size(1); ++c) {
          invstd.data_ptr<scalar_t>()[c] =
              static_cast<scalar_t>(1 / std::sqrt(variance.data_ptr<scalar_t>()[c] + eps));
        }
      }
      backward<scalar_t>(dy, x, w, mean, invstd, train, last, dx, dw, db);
    });
  }
  const auto as = [](const TensorBase& t, ScalarType wanted) {
    if (!t.defined() || t.scalar_type() == wanted) return t;
    TensorBase converted = empty_strided(t.sizes(), t.strides(), wanted, t.device());
    copy(converted, t);
    return converted;
  };
  grad_input = as(dx, input.scalar_type());
  grad_weight = as(dw, parameter);
  grad_bias = as(db, parameter);
  return grads;
}

}  // namespace tenon

#include "tenon/native/group_norm.h"

#include <limits>

#include "aten/composite/in_format.h"
#include "aten/composite/to_opmath_type.h"
#include "tenon/native/_group_norm_backward.h"
#include "tenon/native/instance_norm.h"
#include "tenon/native/native_group_norm.h"
#include "tenon/native/rms_norm.h"
#include "tenon/ops/_moments.h"
#include "tenon/ops/_rms_norm.h"
#include "tenon/ops/_scale_rows.h"
#include "tenon/ops/batch_norm.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/native_layer_norm.h"
#include "tenon/ops/rsqrt.h"
#include "tenon/ops/sum.h"

namespace tenon {
namespace {

void check_channels(const char* op, const char* name, const std::optional<Tensor>& values,
                    int64_t channels) {
  TENON_CHECK(
      !values || (values->dim() == 1 && values->numel() == channels), "[", op, "] Expected ", name,
      " to be a vector of size equal to the number of channels in "
      "input, but got ",
      name, " of shape ", values ? values->sizes() : IntArrayRef(), " and ", channels, " channels");
}

/// The parameters have the input's dtype, or beside half types Float.
void check_dtypes(const char* op, const Tensor& input, const std::optional<Tensor>& weight,
                  const std::optional<Tensor>& bias) {
  const ScalarType own = input.scalar_type();
  const auto is_own = [own](const std::optional<Tensor>& t) {
    return !t || t->scalar_type() == own;
  };
  if (is_own(weight) && is_own(bias)) return;
  for (const std::optional<Tensor>* t : {&weight, &bias}) {
    TENON_CHECK(!*t || (*t)->scalar_type() == kFloat, "[", op,
                "] mixed dtype (CPU): expect parameter to have scalar type of Float, got ",
                *t ? (*t)->scalar_type() : kFloat);
  }
  TENON_CHECK(is_reduced_floating_point(own), "[", op,
              "] mixed dtype (CPU): all inputs must share same datatype, got ", own, " and Float");
}

/// (x - mean) / sqrt(var + eps) over each of the groups of channels of each element of the batch,
/// times weight and plus bias, which are per channel, and mean and 1 / sqrt(var + eps) [N, group].
/// input: N * C * HxW elements.
std::tuple<Tensor, Tensor, Tensor> normalised_groups(const Tensor& input,
                                                     const std::optional<Tensor>& weight,
                                                     const std::optional<Tensor>& bias, int64_t N,
                                                     int64_t C, int64_t HxW, int64_t group,
                                                     double eps) {
  TENON_CHECK(group > 0 && C % group == 0,
              "[native_group_norm] Expected number of channels in input to be divisible by "
              "num_groups, but got input of shape ",
              input.sizes(), " and num_groups=", group);
  TENON_CHECK(input.numel() == N * C * HxW, "[native_group_norm] Expected ", N, " * ", C, " * ",
              HxW, " elements, got input of shape ", input.sizes());
  check_dtypes("native_group_norm", input, weight, bias);
  check_channels("native_group_norm", "weight", weight, C);
  check_channels("native_group_norm", "bias", bias, C);
  const Tensor x = to_opmath_type(input);
  const int64_t each = C / group;
  const MemoryFormat format = input.suggest_memory_format();
  // Of half types the statistics have the dtype of the weight.
  const ScalarType kept = weight ? weight->scalar_type() : input.scalar_type();
  const auto result = [&](const Tensor& out, const Tensor& mean, const Tensor& rstd) {
    return std::make_tuple(in_format(out.reshape(input.sizes()).to(input.scalar_type()), format),
                           mean.reshape({N, group}).to(kept), rstd.reshape({N, group}).to(kept));
  };
  if (!weight && !bias && N > 0) {
    const auto [out, mean, rstd] = native_layer_norm(x.reshape({N, group, each * HxW}),
                                                     {each * HxW}, std::nullopt, std::nullopt, eps);
    return result(out, mean, rstd);
  }
  // x * scale + shift, of which each channel has one.
  const auto [mean, rstd] = _moments(x.reshape({N, group, each * HxW}), eps);
  Tensor scale = rstd.unsqueeze(2).expand({N, group, each});
  if (weight) scale = scale * weight->reshape({group, each});
  Tensor shift = (mean.unsqueeze(2) * scale).neg();
  if (bias) shift = shift + bias->reshape({group, each});
  return result(_scale_rows(x.reshape({N, C, HxW}), scale.reshape({N, C}), shift.reshape({N, C})),
                mean, rstd);
}

}  // namespace

/// The same of N * C * HxW elements in any shape.
std::tuple<Tensor, Tensor, Tensor> native::native_group_norm(const Tensor& input,
                                                             const std::optional<Tensor>& weight,
                                                             const std::optional<Tensor>& bias,
                                                             int64_t N, int64_t C, int64_t HxW,
                                                             int64_t group, double eps) {
  return normalised_groups(input, weight, bias, N, C, HxW, group, eps);
}

/// Gradients of input, weight and bias. With the normalised h = (x - mean) rstd of a group of n
/// elements and g = grad_out weight,
///
///     dx = rstd (g - mean(g) - h mean(g h)) + grad_mean / n - grad_rstd rstd^2 h / n
std::tuple<Tensor, Tensor, Tensor>
native::_group_norm_backward(const std::optional<Tensor>& grad_out,
                             const std::optional<Tensor>& grad_mean,
                             const std::optional<Tensor>& grad_rstd, const Tensor& input,
                             const std::optional<Tensor>& weight, int64_t N, int64_t C, int64_t HxW,
                             int64_t group, double eps, std::array<bool, 3> output_mask) {
  const DimVector only{-1};
  const IntArrayRef last(only);
  const double count = static_cast<double>(C / group * HxW);
  const Tensor x = to_opmath_type(input).reshape({N, group, C / group * HxW});
  const Tensor centred = x - x.mean(last, true);
  const Tensor rstd = rsqrt((centred * centred).mean(last, true) + eps);
  const Tensor h = centred * rstd;
  Tensor dx, dweight, dbias;
  const auto add_to = [](Tensor& sum, const Tensor& t) { sum = sum.defined() ? sum + t : t; };
  if (grad_out && grad_out->defined()) {
    const Tensor grad = to_opmath_type(*grad_out).reshape({N, C, HxW});
    if (output_mask[1]) dweight = (grad * h.reshape({N, C, HxW})).sum({0, 2});
    if (output_mask[2]) dbias = grad.sum({0, 2});
    const Tensor g =
        (weight ? grad * to_opmath_type(*weight).reshape({C, 1}) : grad).reshape(x.sizes());
    dx = rstd * (g - g.mean(last, true) - h * (g * h).mean(last, true));
  }
  if (grad_mean && grad_mean->defined())
    add_to(dx, (to_opmath_type(*grad_mean) / count).reshape({N, group, 1}).expand(x.sizes()));
  if (grad_rstd && grad_rstd->defined()) {
    const Tensor grad = to_opmath_type(*grad_rstd).reshape({N, group, 1});
    add_to(dx, -(grad * rstd * rstd / count) * h);
  }
  const ScalarType kept = weight ? weight->scalar_type() : input.scalar_type();
  return {
      output_mask[0] && dx.defined() ? dx.reshape(input.sizes()).to(input.scalar_type()) : Tensor(),
      dweight.defined() ? dweight.to(kept) : Tensor(), dbias.defined() ? dbias.to(kept) : Tensor()};
}

/// Its first result, with the gradient of the operators that it is made of. input: [N, C, ...].
Tensor native::group_norm(const Tensor& input, int64_t num_groups,
                          const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                          double eps, bool) {
  const int64_t batch = input.size(0), channels = input.size(1);
  TENON_CHECK(num_groups > 0, "[group_norm] Expected num groups to be greater than 0, got ",
              num_groups);
  TENON_CHECK(channels % num_groups == 0,
              "[group_norm] Expected number of channels in input to be divisible by num_groups, "
              "but got input of shape ",
              input.sizes(), " and num_groups=", num_groups);
  check_channels("group_norm", "weight", weight, channels);
  check_channels("group_norm", "bias", bias, channels);
  int64_t pixels = 1;
  for (int64_t d = 2; d < input.dim(); ++d) pixels *= input.size(d);
  TENON_CHECK(channels > 0 || batch == 0,
              "[group_norm] Expected number of channels to be greater than 0, got ", input.sizes());
  TENON_CHECK(pixels > 0, "[group_norm] Expected HxW to be greater than 0, got ", input.sizes());
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(input.scalar_type()),
                              "[group_norm] is not implemented for '", input.scalar_type(), "'");
  return std::get<0>(
      normalised_groups(input, weight, bias, batch, channels, pixels, num_groups, eps));
}

/// batch_norm of each element of the batch by itself: [N, C, ...] is seen as [1, N C, ...]. Running
/// statistics, where there are some, move to the mean of those of the batch.
Tensor native::instance_norm(const Tensor& input, const std::optional<Tensor>& weight,
                             const std::optional<Tensor>& bias,
                             const std::optional<Tensor>& running_mean,
                             const std::optional<Tensor>& running_var, bool use_input_stats,
                             double momentum, double eps, bool cudnn_enabled) {
  TENON_CHECK(use_input_stats || (running_mean && running_var),
              "[instance_norm] Expected running_mean and running_var to be defined when "
              "use_input_stats is false");
  const int64_t batch = input.size(0), channels = input.size(1);
  DimVector sizes(input.sizes());
  sizes[0] = 1;
  sizes[1] = batch * channels;
  const auto repeated = [&](const std::optional<Tensor>& values) -> std::optional<Tensor> {
    if (!values) return std::nullopt;
    return to_opmath_type(*values).repeat({batch});
  };
  const std::optional<Tensor> mean = repeated(running_mean), var = repeated(running_var);
  const Tensor out =
      tenon::batch_norm(to_opmath_type(input).contiguous().view(sizes), repeated(weight),
                        repeated(bias), mean, var, use_input_stats, momentum, eps, cudnn_enabled);
  if (use_input_stats) {
    for (const auto& [running, moved] :
         {std::pair(running_mean, mean), std::pair(running_var, var)}) {
      if (running) running->detach().copy_(moved->view({batch, channels}).mean(0, false));
    }
  }
  return out.view(input.sizes()).to(input.scalar_type());
}

/// x / sqrt(mean(x^2) + eps) over the last dimensions (Zhang and Sennrich 2019), times weight. eps
/// is by default the smallest number that 1 can be told apart by.
Tensor native::rms_norm(const Tensor& input, IntArrayRef normalized_shape,
                        const std::optional<Tensor>& weight, std::optional<double> eps) {
  const size_t n = normalized_shape.size(), dims = static_cast<size_t>(input.dim());
  TENON_CHECK(n >= 1,
              "[rms_norm] Expected normalized_shape to be at least 1-dimensional, i.e., containing "
              "at least one element, but got normalized_shape = ",
              normalized_shape);
  TENON_CHECK_VALUE(n <= dims, "[rms_norm] Input tensor must have at least ", n,
                    " dimensions, but got ", dims);
  TENON_CHECK_NOT_IMPLEMENTED(is_differentiable(input.scalar_type()),
                              "[rms_norm] is not implemented for '", input.scalar_type(), "'");
  TENON_CHECK(!weight || weight->sizes() == normalized_shape,
              "[rms_norm] Expected weight to be of same shape as normalized_shape, but got weight "
              "of shape ",
              weight ? weight->sizes() : IntArrayRef(),
              " and normalized_shape = ", normalized_shape);
  TENON_CHECK(input.sizes().slice(dims - n, n) == normalized_shape,
              "[rms_norm] Given normalized_shape=", normalized_shape,
              ", expected input with shape [*, ", normalized_shape, "], but got input of size",
              input.sizes());
  const double smallest = to_real(input.scalar_type()) == kDouble
                              ? std::numeric_limits<double>::epsilon()
                              : std::numeric_limits<float>::epsilon();
  if (!input.is_complex()) {
    const Tensor out = _rms_norm(input, normalized_shape, weight, eps.value_or(smallest));
    return out.scalar_type() == input.scalar_type() ? out : out.to(input.scalar_type());
  }
  // Rows are of real numbers.
  DimVector over;
  for (size_t d = 1; d <= n; ++d) over.push_back(-static_cast<int64_t>(d));
  const Tensor out =
      input * rsqrt((input * input).mean(IntArrayRef(over), true) + eps.value_or(smallest));
  return weight ? out * *weight : out;
}

}  // namespace tenon

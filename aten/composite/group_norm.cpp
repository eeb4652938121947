#include "tenon/native/group_norm.h"

#include <limits>

#include "aten/composite/in_format.h"
#include "aten/composite/to_opmath_type.h"
#include "tenon/native/instance_norm.h"
#include "tenon/native/rms_norm.h"
#include "tenon/ops/_moments.h"
#include "tenon/ops/_rms_norm.h"
#include "tenon/ops/_scale_rows.h"
#include "tenon/ops/batch_norm.h"
#include "tenon/ops/layer_norm.h"
#include "tenon/ops/rsqrt.h"

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

}  // namespace

/// (x - mean) / sqrt(var + eps) over each of the groups of channels of each element of the batch,
/// times weight and plus bias, which are per channel. input: [N, C, ...].
Tensor native::group_norm(const Tensor& input, int64_t num_groups,
                          const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                          double eps, bool) {
  TENON_CHECK(input.dim() >= 2,
              "[group_norm] Expected at least 2 dimensions for input tensor but received ",
              input.dim());
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
  TENON_CHECK(pixels > 0 || batch == 0, "[group_norm] Expected HxW to be greater than 0, got ",
              input.sizes());
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(input.scalar_type()),
                              "[group_norm] is not implemented for '", input.scalar_type(), "'");
  const Tensor x = to_opmath_type(input);
  const int64_t each = channels / num_groups;
  if (!weight && !bias && batch > 0) {
    const Tensor out = layer_norm(x.reshape({batch, num_groups, each * pixels}), {each * pixels},
                                  std::nullopt, std::nullopt, eps, false);
    return in_format(out.reshape(input.sizes()).to(input.scalar_type()),
                     input.suggest_memory_format());
  }
  // x * scale + shift, of which each channel has one.
  const auto [mean, rstd] = _moments(x.reshape({batch, num_groups, each * pixels}), eps);
  Tensor scale = rstd.unsqueeze(2).expand({batch, num_groups, each});
  if (weight) scale = scale * weight->reshape({num_groups, each});
  Tensor shift = (mean.unsqueeze(2) * scale).neg();
  if (bias) shift = shift + bias->reshape({num_groups, each});
  const Tensor out =
      _scale_rows(x.reshape({batch, channels, pixels}), scale.reshape({batch, channels}),
                  shift.reshape({batch, channels}));
  return in_format(out.reshape(input.sizes()).to(input.scalar_type()),
                   input.suggest_memory_format());
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
  TENON_CHECK(input.dim() >= 2,
              "[instance_norm] Expected at least 2 dimensions for input tensor but received ",
              input.dim());
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
  TENON_CHECK(!weight || weight->sizes() == normalized_shape,
              "[rms_norm] Expected weight to be of same shape as normalized_shape, but got weight "
              "of shape ",
              weight ? weight->sizes() : IntArrayRef(),
              " and normalized_shape = ", normalized_shape);
  TENON_CHECK(n <= dims && input.sizes().slice(dims - n, n) == normalized_shape,
              "[rms_norm] Given normalized_shape=", normalized_shape,
              ", expected input with shape [*, ", normalized_shape, "], but got input of size",
              input.sizes());
  const double smallest = to_real(input.scalar_type()) == kDouble
                              ? std::numeric_limits<double>::epsilon()
                              : std::numeric_limits<float>::epsilon();
  if (!input.is_complex())
    return _rms_norm(input, normalized_shape, weight, eps.value_or(smallest));
  // Rows are of real numbers.
  DimVector over;
  for (size_t d = 1; d <= n; ++d) over.push_back(-static_cast<int64_t>(d));
  const Tensor out =
      input * rsqrt((input * input).mean(IntArrayRef(over), true) + eps.value_or(smallest));
  return weight ? out * *weight : out;
}

}  // namespace tenon

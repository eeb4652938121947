#include "runtime/nn/functional/helpers.h"
#include "tenon/ops/batch_norm.h"
#include "tenon/ops/div.h"
#include "tenon/ops/group_norm.h"
#include "tenon/ops/instance_norm.h"
#include "tenon/ops/norm.h"
#include "tenon/ops/pad.h"

namespace tenon::nn::functional::detail {
namespace {

int64_t product(IntArrayRef sizes, size_t from) {
  int64_t result = 1;
  for (size_t i = from; i < sizes.size(); ++i) result *= sizes[i];
  return result;
}

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                  const Tensor& weight, const Tensor& bias, bool training,
                  const std::optional<double>& momentum, double eps) {
  // The variance of one value says nothing.
  const IntArrayRef sizes = input.sizes();
  TENON_CHECK_VALUE(!training || sizes.size() < 2 || sizes[0] * product(sizes, 2) != 1,
                    "Expected more than 1 value per channel when training, got input size ", sizes);
  TENON_CHECK_VALUE(momentum,
                    "[batch_norm] momentum has no value: only the module BatchNorm counts batches");
  return tenon::batch_norm(input, optional_tensor(weight), optional_tensor(bias),
                           optional_tensor(running_mean), optional_tensor(running_var), training,
                           *momentum, eps, false);
}

Tensor instance_norm(const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
                     const Tensor& weight, const Tensor& bias, bool use_input_stats,
                     double momentum, double eps) {
  TENON_CHECK_VALUE(!use_input_stats || product(input.sizes(), 2) != 1,
                    "Expected more than 1 spatial element when training, got input size ",
                    input.sizes());
  return tenon::instance_norm(input, optional_tensor(weight), optional_tensor(bias),
                              optional_tensor(running_mean), optional_tensor(running_var),
                              use_input_stats, momentum, eps, false);
}

Tensor group_norm(const Tensor& input, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps) {
  TENON_CHECK(input.dim() >= 2, "Expected at least 2 dimensions for input tensor but received ",
              input.dim());
  return tenon::group_norm(input, num_groups, optional_tensor(weight), optional_tensor(bias), eps,
                           false);
}

Tensor local_response_norm(const Tensor& input, int64_t size, double alpha, double beta, double k) {
  TENON_CHECK_VALUE(input.dim() >= 3, "Expected 3D or higher dimensionality input (got ",
                    input.dim(), " dimensions)");
  if (input.numel() == 0) return input;
  const Tensor squares = tenon::pad((input * input).movedim(1, -1), {size / 2, (size - 1) / 2});
  const Tensor mean = squares.unfold(-1, size, 1).sum({-1}).movedim(-1, 1) / size;
  return input / (mean * alpha + k).pow(beta);
}

Tensor normalize(const Tensor& input, double p, int64_t dim, double eps, const Tensor& out) {
  const Tensor norms = input.norm(p, {dim}, true).clamp_min(eps).expand_as(input);
  if (!out.defined()) return input / norms;
  Tensor written = out;
  return tenon::div_out(written, input, norms);
}

}  // namespace tenon::nn::functional::detail

#include "runtime/nn/init.h"

#include <algorithm>
#include <cmath>

#include "aten/core/thread_state.h"
#include "tenon/ops/diag.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/eye.h"
#include "tenon/ops/linalg_qr.h"
#include "tenon/ops/randperm.h"

namespace tenon::nn::init {
namespace {

double kaiming_std(const Tensor& tensor, double a, FanModeType mode,
                   NonlinearityType nonlinearity) {
  const auto [fan_in, fan_out] = calculate_fan_in_and_fan_out(tensor);
  const double fan =
      static_cast<double>(std::holds_alternative<enumtype::kFanIn>(mode) ? fan_in : fan_out);
  return calculate_gain(nonlinearity, a) / std::sqrt(fan);
}

double xavier_std(const Tensor& tensor, double gain) {
  const auto [fan_in, fan_out] = calculate_fan_in_and_fan_out(tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(fan_in + fan_out));
}

}  // namespace

double calculate_gain(NonlinearityType nonlinearity, double param) {
  if (std::holds_alternative<enumtype::kTanh>(nonlinearity)) return 5.0 / 3.0;
  if (std::holds_alternative<enumtype::kReLU>(nonlinearity)) return std::sqrt(2.0);
  if (std::holds_alternative<enumtype::kLeakyReLU>(nonlinearity))
    return std::sqrt(2.0 / (1 + param * param));
  return 1;
}

std::pair<int64_t, int64_t> calculate_fan_in_and_fan_out(const Tensor& tensor) {
  TENON_CHECK_VALUE(tensor.dim() >= 2,
                    "[init] fan in and fan out need a tensor of at least 2 dimensions, got shape ",
                    tensor.sizes());
  int64_t kernel = 1;
  for (int64_t d = 2; d < tensor.dim(); ++d) kernel *= tensor.size(d);
  return {tensor.size(1) * kernel, tensor.size(0) * kernel};
}

Tensor constant_(Tensor tensor, Scalar value) {
  NoGradGuard no_grad;
  return tensor.fill_(value);
}
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }

Tensor uniform_(Tensor tensor, double low, double high) {
  NoGradGuard no_grad;
  return tensor.uniform_(low, high);
}

Tensor normal_(Tensor tensor, double mean, double std) {
  NoGradGuard no_grad;
  return tensor.normal_(mean, std);
}

Tensor kaiming_uniform_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (tensor.numel() == 0) return tensor;  // whose fan may be 0
  const double bound = std::sqrt(3.0) * kaiming_std(tensor, a, mode, nonlinearity);
  return uniform_(std::move(tensor), -bound, bound);
}

Tensor kaiming_normal_(Tensor tensor, double a, FanModeType mode, NonlinearityType nonlinearity) {
  if (tensor.numel() == 0) return tensor;
  const double std = kaiming_std(tensor, a, mode, nonlinearity);
  return normal_(std::move(tensor), 0, std);
}

Tensor xavier_uniform_(Tensor tensor, double gain) {
  const double bound = std::sqrt(3.0) * xavier_std(tensor, gain);
  return uniform_(std::move(tensor), -bound, bound);
}

Tensor xavier_normal_(Tensor tensor, double gain) {
  const double std = xavier_std(tensor, gain);
  return normal_(std::move(tensor), 0, std);
}

Tensor dirac_(Tensor tensor, int64_t groups) {
  TENON_CHECK_VALUE(tensor.dim() >= 3 && tensor.dim() <= 5,
                    "Only tensors with 3, 4, or 5 dimensions are supported");
  TENON_CHECK_VALUE(groups > 0 && tensor.size(0) % groups == 0,
                    "dim 0 must be divisible by groups");
  NoGradGuard no_grad;
  tensor.zero_();
  const int64_t outputs = tensor.size(0) / groups;
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t d = 0; d < std::min(outputs, tensor.size(1)); ++d) {
      Tensor middle = tensor[g * outputs + d][d];
      while (middle.dim() > 0) middle = middle[middle.size(0) / 2];
      middle.fill_(1);
    }
  }
  return tensor;
}

Tensor eye_(Tensor matrix) {
  TENON_CHECK_VALUE(matrix.dim() == 2, "Only tensors with 2 dimensions are supported");
  NoGradGuard no_grad;
  eye_out(matrix, matrix.size(0), matrix.size(1));
  return matrix;
}

Tensor orthogonal_(Tensor tensor, double gain) {
  TENON_CHECK_VALUE(tensor.dim() >= 2, "Only tensors with 2 or more dimensions are supported");
  if (tensor.numel() == 0) return tensor;
  NoGradGuard no_grad;
  const int64_t rows = tensor.size(0), columns = tensor.numel() / rows;
  Tensor flat = empty({rows, columns}, tensor.options()).normal_(0, 1);
  if (rows < columns) flat = flat.t();
  auto [q, r] = linalg_qr(flat);
  // The signs make q uniform: Mezzadri, math-ph/0609050.
  q = q * diag(r, 0).sign();
  if (rows < columns) q = q.t();
  tensor.copy_(q.reshape(tensor.sizes()));
  return tensor.mul_(gain);
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  TENON_CHECK_VALUE(tensor.dim() == 2, "Only tensors with 2 dimensions are supported");
  NoGradGuard no_grad;
  const auto zeros =
      static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(tensor.size(0))));
  tensor.normal_(0, std);
  for (int64_t column = 0; column < tensor.size(1); ++column) {
    const Tensor rows = randperm(tensor.size(0), TensorOptions(kLong)).narrow(0, 0, zeros);
    tensor.select(1, column).index_fill_(0, rows.to(tensor.device()), 0);
  }
  return tensor;
}

}  // namespace tenon::nn::init

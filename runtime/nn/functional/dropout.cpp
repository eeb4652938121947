#include "tenon/nn/functional/dropout.h"

#include "aten/dispatch/warning.h"
#include "tenon/ops/bernoulli.h"
#include "tenon/ops/dropout.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/ones.h"

namespace tenon::nn::functional::detail {
namespace {

void check_probability(double p) {
  TENON_CHECK_VALUE(p >= 0 && p <= 1, "dropout probability has to be between 0 and 1, but got ", p);
}

/// [N, C, 1, ...] of an input [N, C, ...].
std::vector<int64_t> shape_of_channels(const Tensor& input) {
  std::vector<int64_t> shape(size_t(input.dim()), 1);
  for (size_t i = 0; i < 2; ++i) shape[i] = input.size(int64_t(i));
  return shape;
}

/// dropout of whole channels of [N, C, ...].
Tensor feature_dropout(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p);
  if (!training || p == 0 || input.numel() == 0) return input;
  TENON_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
  const Tensor kept =
      tenon::dropout(tenon::ones(shape_of_channels(input), input.options()), p, true);
  Tensor written = input;
  return inplace ? written.mul_(kept) : input * kept;
}

/// The same of [C, ...].
Tensor unbatched_feature_dropout(const Tensor& input, double p, bool training, bool inplace) {
  const Tensor result = feature_dropout(input.unsqueeze(0), p, training, inplace);
  return inplace ? input : result.squeeze(0);
}

void warn_of_dims(const char* name, int64_t dims, const Tensor& input) {
  TENON_WARN(name, ": Received a ", input.dim(), "-D input to ", name,
             ", which is deprecated and will result in an error in a future release. To retain the "
             "behavior and silence this warning, please use dropout instead. Note that ",
             name, " exists to provide channel-wise dropout on inputs with ", dims,
             " spatial dimensions, a channel dimension, and an optional batch dimension (i.e. ",
             dims + 1, "D or ", dims + 2, "D inputs).");
}

/// Noise of that shape, which keeps mean and variance of what selu() gives (Klambauer et al. 2017).
Tensor alpha_dropout_of(const Tensor& input, IntArrayRef shape, double p, bool training,
                        bool inplace) {
  check_probability(p);
  if (!training || p == 0) return input;
  Tensor written = input;
  if (p == 1) return inplace ? written.mul_(0) : input * 0;
  const double lowest = -1.7580993408473766;  // of selu
  const double scale = 1 / std::sqrt((lowest * lowest * p + 1) * (1 - p));
  const Tensor kept = tenon::empty(shape, input.options()).bernoulli_(1 - p);
  const Tensor result =
      input * (kept * scale) + ((1 - kept) * (lowest * scale) - lowest * scale * p);
  return inplace ? written.copy_(result) : result;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p);
  const Tensor result = tenon::dropout(input, p, training);
  if (!inplace || result.is_same(input)) return result;
  Tensor written = input;
  return written.copy_(result);
}

Tensor dropout1d(const Tensor& input, double p, bool training, bool inplace) {
  TENON_CHECK(input.dim() == 2 || input.dim() == 3,
              "dropout1d: Expected 2D or 3D input, but received a ", input.dim(), "D input");
  return input.dim() == 3 ? feature_dropout(input, p, training, inplace)
                          : unbatched_feature_dropout(input, p, training, inplace);
}

Tensor dropout2d(const Tensor& input, double p, bool training, bool inplace) {
  if (input.dim() != 3 && input.dim() != 4) warn_of_dims("dropout2d", 2, input);
  if (input.dim() == 3) {
    TENON_WARN("dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D ",
               "dropout behavior is desired - input is interpreted as shape (N, C, L), where C is ",
               "the channel dim.");
  }
  return feature_dropout(input, p, training, inplace);
}

Tensor dropout3d(const Tensor& input, double p, bool training, bool inplace) {
  if (input.dim() != 4 && input.dim() != 5) warn_of_dims("dropout3d", 3, input);
  return input.dim() == 4 ? unbatched_feature_dropout(input, p, training, inplace)
                          : feature_dropout(input, p, training, inplace);
}

Tensor alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  return alpha_dropout_of(input, input.sizes(), p, training, inplace);
}

Tensor feature_alpha_dropout(const Tensor& input, double p, bool training, bool inplace) {
  check_probability(p);
  if (!training || p == 0 || input.numel() == 0) return input;
  TENON_CHECK(input.dim() >= 2, "Feature dropout requires at least 2 dimensions in the input");
  return alpha_dropout_of(input, shape_of_channels(input), p, training, inplace);
}

}  // namespace tenon::nn::functional::detail

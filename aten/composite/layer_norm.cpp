#include "tenon/native/layer_norm.h"

#include "tenon/ops/native_layer_norm.h"

namespace tenon {

/// y = (x - mean) / sqrt(var + eps) * weight + bias over the last dimensions, which
/// normalized_shape names.
Tensor native::layer_norm(const Tensor& input, IntArrayRef normalized_shape,
                          const std::optional<Tensor>& weight, const std::optional<Tensor>& bias,
                          double eps, bool) {
  return std::get<0>(native_layer_norm(input, normalized_shape, weight, bias, eps));
}

}  // namespace tenon

#include "tenon/native/native_dropout.h"

namespace tenon {

/// The input's shape, and as Bool the mask of what was kept.
std::array<TensorSpec, 2> native::native_dropout_meta(const Tensor& input, double p,
                                                      std::optional<bool>) {
  TENON_CHECK(p >= 0 && p <= 1, "[dropout] dropout probability has to be between 0 and 1, but got ",
              p);
  TENON_CHECK(is_floating_point(input.scalar_type()), "[dropout] is not implemented for ",
              input.scalar_type());
  return {TensorSpec(input.sizes(), input), TensorSpec(input.sizes(), kBool, input.device())};
}

}  // namespace tenon

#include "tenon/native/native_layer_norm.h"

#include "aten/meta/checks.h"

namespace tenon {

/// Input of shape [..., normalized_shape...], parameters of normalized_shape.
void native::native_layer_norm_check(const Tensor& input, IntArrayRef normalized_shape,
                                     const std::optional<Tensor>& weight,
                                     const std::optional<Tensor>& bias, double) {
  TENON_CHECK(
      !normalized_shape.empty(),
      "[layer_norm] Expected normalized_shape to be at least 1-dimensional, ",
      "i.e., containing at least one element, but got normalized_shape = ", normalized_shape);
  const int64_t dims = static_cast<int64_t>(normalized_shape.size()), first = input.dim() - dims;
  TENON_CHECK(first >= 0 && input.sizes().slice(first) == normalized_shape,
              "[layer_norm] Given normalized_shape=", normalized_shape,
              ", expected input with shape [*, ", normalized_shape, "], but got input of size ",
              input.sizes());
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(input.scalar_type()),
                              "[layer_norm] is not implemented for ", input.scalar_type());
  for (const auto* p : {&weight, &bias}) {
    if (*p && (*p)->defined()) {
      meta::check_same_device("layer_norm", "input", input, p == &weight ? "weight" : "bias", **p);
    }
    TENON_CHECK(!*p || !(*p)->defined() || (*p)->sizes() == normalized_shape,
                "[layer_norm] Expected ", p == &weight ? "weight" : "bias",
                " to be of same shape as normalized_shape, but got ", (*p)->sizes(),
                " and normalized_shape = ", normalized_shape);
    TENON_CHECK(
        !*p || !(*p)->defined() || (*p)->scalar_type() == input.scalar_type() ||
            (is_reduced_floating_point(input.scalar_type()) && (*p)->scalar_type() == kFloat),
        "[layer_norm] expected ", p == &weight ? "weight" : "bias", " to have the input's dtype ",
        input.scalar_type(), ", got ", (*p)->scalar_type());
  }
}

}  // namespace tenon

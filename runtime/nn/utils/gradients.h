#pragma once

#include <vector>

#include "tenon/tensor.h"

namespace tenon::nn::utils {

/// Scales the gradients of `parameters`, seen as one vector, to a norm of at most `max_norm`;
/// returns the norm that they had. Parameters without a gradient are passed over. Error if the norm
/// is not finite, with `error_if_nonfinite`.
TENON_API double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                 double norm_type = 2, bool error_if_nonfinite = false);
inline double clip_grad_norm_(std::initializer_list<Tensor> parameters, double max_norm,
                              double norm_type = 2, bool error_if_nonfinite = false) {
  return clip_grad_norm_(std::vector<Tensor>(parameters), max_norm, norm_type, error_if_nonfinite);
}
inline double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type = 2,
                              bool error_if_nonfinite = false) {
  return clip_grad_norm_({parameter}, max_norm, norm_type, error_if_nonfinite);
}

/// Clips each element of the gradients to [-clip_value, clip_value].
TENON_API void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value);
inline void clip_grad_value_(std::initializer_list<Tensor> parameters, double clip_value) {
  clip_grad_value_(std::vector<Tensor>(parameters), clip_value);
}
inline void clip_grad_value_(const Tensor& parameter, double clip_value) {
  clip_grad_value_({parameter}, clip_value);
}

/// All elements of the parameters one after the other, [sum of numel()]. Error if they are on
/// different devices.
TENON_API Tensor parameters_to_vector(const std::vector<Tensor>& parameters);
/// Makes slices of `vector` the parameters' data: they share its memory. Error if they are on
/// different devices.
TENON_API void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters);

}  // namespace tenon::nn::utils

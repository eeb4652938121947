#pragma once

#include "aten/meta/checks.h"

namespace tenon::meta {

/// What the backward pass of layer_norm reads must be what the forward pass read and gave: grad_out
/// [..., normalized_shape...] like input, one mean and one rstd per row, weight of normalized_shape
/// or null.
inline void check_layer_norm_backward(const TensorBase& grad_out, const TensorBase& input,
                                      IntArrayRef normalized_shape, const TensorBase& mean,
                                      const TensorBase& rstd, const TensorBase* weight) {
  constexpr const char* kOp = "native_layer_norm_backward";
  TENON_CHECK(grad_out.sizes() == input.sizes(), "[", kOp,
              "] Expected grad_out to have the input's shape ", input.sizes(), ", got ",
              grad_out.sizes());
  const int64_t leading = input.dim() - static_cast<int64_t>(normalized_shape.size());
  TENON_CHECK(leading >= 0 && input.sizes().slice(leading) == normalized_shape, "[", kOp,
              "] Expected input of shape [*, ", normalized_shape, "], got ", input.sizes());
  const int64_t rows = numel_of(input.sizes().slice(0, leading));
  TENON_CHECK(mean.numel() == rows && rstd.numel() == rows, "[", kOp, "] Expected ", rows,
              " values in mean and rstd, got ", mean.numel(), " and ", rstd.numel());
  TENON_CHECK(!weight || weight->sizes() == normalized_shape, "[", kOp,
              "] Expected weight of shape ", normalized_shape, ", got ", weight->sizes());
  TENON_CHECK(!input.is_complex() && !grad_out.is_complex() && !mean.is_complex() &&
                  !rstd.is_complex() && (!weight || !weight->is_complex()),
              "[", kOp, "] is not implemented for complex tensors");
}

}  // namespace tenon::meta

#pragma once

#include "aten/common/dims.h"
#include "aten/meta/tensor_spec.h"
#include "tenon/tensor.h"

namespace tenon::native {

/// The output of a reduction over `dims` (none: all) with values of `dtype`.
inline TensorSpec reduced_spec(const char* op, const Tensor& self, OptionalIntArrayRef dims,
                               bool keepdim, ScalarType dtype) {
  if (!dims && !keepdim) return TensorSpec(IntArrayRef(), dtype, self.device());
  const uint64_t mask = dim_mask(op, dims, self.dim());
  return TensorSpec(reduced_sizes(self.sizes(), mask, keepdim), dtype, self.device());
}

/// dtype of sums and products: int64 for integers and bool unless another is asked for.
inline ScalarType accumulated_dtype(const Tensor& self, std::optional<ScalarType> dtype) {
  if (dtype) return *dtype;
  return is_integral(self.scalar_type(), true) ? kLong : self.scalar_type();
}

/// A result of sums and products: an `out` may have another dtype unless one is asked for.
inline TensorSpec accumulating(TensorSpec spec, std::optional<ScalarType> dtype) {
  spec.casts = !dtype;
  return spec;
}

/// dtype of means, variances and norms, which must be floating-point or complex.
inline ScalarType inexact_dtype(const char* op, const Tensor& self,
                                std::optional<ScalarType> dtype) {
  const ScalarType result = dtype.value_or(self.scalar_type());
  TENON_CHECK_NOT_IMPLEMENTED(
      is_differentiable(result), "[", op, "] could not infer output dtype. ",
      dtype ? "Optional" : "Input",
      " dtype must be either a floating point or complex dtype. Got: ", result);
  return result;
}

/// Errors of reductions that have no value for no elements.
inline void check_not_empty(const char* op, const Tensor& self, OptionalIntArrayRef dims) {
  if (self.numel() > 0) return;
  TENON_CHECK(dims && !dims->empty(), "[", op,
              "] Expected reduction dim to be specified for input.numel() == 0. "
              "Specify the reduction dim with the 'dim' argument.");
  for (int64_t d : *dims) {
    TENON_CHECK_INDEX(self.dim() > 0 && self.size(d) != 0, "[", op, "] Expected reduction dim ",
                      wrap_dim(d, self.dim()), " to have non-zero size.");
  }
}

}  // namespace tenon::native

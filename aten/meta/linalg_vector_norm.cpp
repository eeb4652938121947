#include "tenon/native/linalg_vector_norm.h"

#include <cmath>

#include "aten/meta/norm_dtype.h"
#include "aten/meta/reduce.h"

namespace tenon {

TensorSpec native::linalg_vector_norm_meta(const Tensor& self, const Scalar& ord,
                                           OptionalIntArrayRef dim, bool keepdim,
                                           std::optional<ScalarType> dtype) {
  TENON_CHECK_NOT_IMPLEMENTED(
      is_differentiable(self.scalar_type()),
      "[linalg_vector_norm] Expected a floating point or complex tensor as input. Got ",
      self.scalar_type());
  if (dtype) check_norm_dtype("linalg_vector_norm", self.scalar_type(), *dtype);
  const ScalarType type = to_real(dtype.value_or(self.scalar_type()));
  TENON_CHECK_TYPE(!ord.is_complex(), "[linalg_vector_norm] ord must be a real number, got ", ord);
  TensorSpec spec = reduced_spec("linalg_vector_norm", self, dim, keepdim, type);
  const double p = ord.toDouble();
  const bool needs_elements = p < 0 || std::isinf(p);
  TENON_CHECK(
      !needs_elements || self.numel() > 0 || numel_of(spec.sizes) == 0,
      "linalg.vector_norm cannot compute the ", p,
      " norm on an empty tensor because the operation does not have an identity, got sizes ",
      self.sizes());
  return spec;
}

}  // namespace tenon

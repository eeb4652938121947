#include "tenon/native/norm.h"

#include "tenon/ops/linalg_vector_norm.h"

namespace tenon {

Tensor native::norm_Scalar(const Tensor& self, const Scalar& p) {
  return ops::linalg_vector_norm::call(self, p, std::nullopt, false, std::nullopt);
}

Tensor native::norm_ScalarOpt_dim(const Tensor& self, const std::optional<Scalar>& p,
                                  IntArrayRef dim, bool keepdim) {
  return ops::linalg_vector_norm::call(self, p.value_or(2), dim, keepdim, std::nullopt);
}

}  // namespace tenon

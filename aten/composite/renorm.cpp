#include "tenon/native/renorm.h"

#include <cmath>

#include "tenon/ops/linalg_vector_norm.h"
#include "tenon/ops/to.h"
#include "tenon/ops/where.h"

namespace tenon {

/// self with each slice along dim whose norm p exceeds maxnorm scaled down to it. Half types have
/// their norms in float.
Tensor native::renorm(const Tensor& self, const Scalar& p, int64_t dim, const Scalar& maxnorm) {
  TENON_CHECK(!p.is_complex() && p.toDouble() > 0, "[renorm] non-positive norm not supported, got ",
              p);
  TENON_CHECK(!maxnorm.is_complex() && maxnorm.toDouble() >= 0,
              "[renorm] expected maxnorm to be >= 0 but got ", maxnorm);
  TENON_CHECK(self.dim() > 1, "[renorm] input needs at least 2 dimensions, got ", self.dim(),
              " dimensions");
  const int64_t d = wrap_dim(dim, self.dim());
  // The quotient's gradient would be NaN.
  if (std::isinf(maxnorm.toDouble())) return self.clone(MemoryFormat::Contiguous);
  DimVector others;
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (i != d) others.push_back(i);
  }
  const std::optional<ScalarType> wide =
      is_reduced_floating_point(self.scalar_type()) ? std::optional(kFloat) : std::nullopt;
  const Tensor norm = linalg_vector_norm(self, p, IntArrayRef(others), true, wide);
  const Tensor factor = where(norm > maxnorm, maxnorm / (norm + 1e-7), norm.new_ones({}));
  return (self * factor.to(self.scalar_type())).contiguous();
}

}  // namespace tenon

#include "tenon/native/cosine_similarity.h"

#include "aten/common/opmath_type.h"
#include "aten/iterator/plan.h"
#include "tenon/ops/linalg_vector_norm.h"

namespace tenon {

/// x1 . x2 / (max(|x1|, eps) max(|x2|, eps)) along dim, of tensors that broadcast. The norms are
/// kept from zero without a derivative of that, as in PyTorch; half types are rounded once.
Tensor native::cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const ScalarType dtype = promote_types(x1.scalar_type(), x2.scalar_type());
  TENON_CHECK(
      is_floating_point(dtype),
      "[cosine_similarity] expected common dtype to be floating point, yet common dtype is ",
      dtype);
  TENON_CHECK(eps >= 0, "[cosine_similarity] eps must be non-negative, got: ", eps);
  const TensorBase* const both[] = {&x1, &x2};
  const DimVector sizes = broadcast_shape(both);
  const auto unit = [&](const Tensor& t) {
    const Tensor x = t.to(to_opmath_type(dtype)).expand(sizes);
    const Tensor norm = linalg_vector_norm(x, 2, IntArrayRef(dim), true);
    return x / (norm + (norm.clamp_min(eps) - norm).detach());
  };
  return (unit(x1) * unit(x2)).sum(IntArrayRef(dim)).to(dtype);
}

}  // namespace tenon

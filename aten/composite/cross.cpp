#include "tenon/native/cross.h"

#include "aten/iterator/plan.h"
#include "tenon/native/linalg_cross.h"
#include "tenon/ops/linalg_cross.h"

namespace tenon {

/// The cross product of the vectors of three elements along `dim`; the others are broadcast.
Tensor native::linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  TENON_CHECK(self.dim() == other.dim(),
              "[linalg.cross] inputs must have the same number of dimensions, got ", self.sizes(),
              " and ", other.sizes());
  TENON_CHECK(self.size(dim) == 3 && other.size(dim) == 3, "[linalg.cross] inputs dimension ", dim,
              " must have length 3. Got ", self.size(dim), " and ", other.size(dim));
  TENON_CHECK(self.scalar_type() == other.scalar_type(), "[linalg.cross] expected scalar type ",
              self.scalar_type(), " but found ", other.scalar_type());
  const DimVector sizes = broadcast_shape({&self, &other});
  const Tensor a = self.expand(sizes), b = other.expand(sizes);
  // Element i is a[i + 1] b[i + 2] - a[i + 2] b[i + 1].
  return a.roll(-1, dim) * b.roll(-2, dim) - a.roll(-2, dim) * b.roll(-1, dim);
}

/// linalg.cross, by default along the first dimension of three elements.
Tensor native::cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (dim) return ops::linalg_cross::call(self, other, *dim);
  int64_t first = 0;
  while (first < self.dim() && self.size(first) != 3) ++first;
  TENON_CHECK(first < self.dim(), "[cross] no dimension of size 3 in input, got ", self.sizes());
  return ops::linalg_cross::call(self, other, first);
}

}  // namespace tenon

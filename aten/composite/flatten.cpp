#include "tenon/native/flatten.h"

#include "tenon/native/unflatten.h"
#include "tenon/ops/reshape.h"
#include "tenon/ops/view.h"

namespace tenon {

Tensor native::flatten_using_ints(const Tensor& self, int64_t start_dim, int64_t end_dim) {
  const int64_t start = wrap_dim(start_dim, self.dim());
  const int64_t end = wrap_dim(end_dim, self.dim());
  TENON_CHECK(
      start <= end,
      "[flatten] flatten() has invalid args: start_dim cannot come after end_dim, got start_dim=",
      start_dim, ", end_dim=", end_dim);
  if (self.dim() == 0) return ops::reshape::call(self, {1});
  if (start == end) return self;
  int64_t joined = 1;
  for (int64_t d = start; d <= end; ++d) joined *= self.size(d);
  DimVector sizes(self.sizes().begin(), self.sizes().begin() + start);
  sizes.push_back(joined);
  sizes.append(self.sizes().begin() + end + 1, self.sizes().end());
  return ops::reshape::call(self, sizes);
}

Tensor native::unflatten_int(const Tensor& self, int64_t dim, IntArrayRef sizes) {
  const int64_t d = wrap_dim(dim, self.dim());
  TENON_CHECK(!sizes.empty(), "[unflatten] sizes must be non-empty");
  TENON_CHECK(self.dim() > 0,
              "[unflatten] expected a tensor with at least one dimension, got a scalar");
  int64_t known = 1;
  int64_t unknown = 0;
  for (int64_t s : sizes) (s == -1 ? unknown : known) *= s == -1 ? 1 : s;
  for (int64_t s : sizes) unknown += s == -1;
  const int64_t size = self.size(d);
  TENON_CHECK(unknown <= 1 && (unknown == 0 ? known == size : known != 0 && size % known == 0),
              "[unflatten] Provided sizes ", sizes, " don't multiply up to the size of dim ", d,
              " (", size, ") in the input tensor");
  DimVector shape(self.sizes().begin(), self.sizes().begin() + d);
  for (int64_t s : sizes) shape.push_back(s == -1 ? size / known : s);
  shape.append(self.sizes().begin() + d + 1, self.sizes().end());
  return ops::view::call(self, shape);
}

}  // namespace tenon

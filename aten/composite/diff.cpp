#include "tenon/native/diff.h"

#include <algorithm>

#include "tenon/ops/cat.h"
#include "tenon/ops/logical_xor.h"

namespace tenon {

/// n times the differences of neighbours along dim; of bools, whether they differ.
Tensor native::diff(const Tensor& self, int64_t n, int64_t dim,
                    const std::optional<Tensor>& prepend, const std::optional<Tensor>& append) {
  TENON_CHECK(self.dim() >= 1, "[diff] diff expects input to be at least one-dimensional, got 0-d");
  TENON_CHECK(n >= 0, "[diff] order must be non-negative but got ", n);
  const int64_t d = wrap_dim(dim, self.dim());
  std::vector<Tensor> parts;
  for (const auto& [part, name] : {std::pair(prepend, "prepend"), std::pair(append, "append")}) {
    TENON_CHECK(!part || part->dim() == self.dim(),
                "[diff] diff expects prepend or append to be the same dimension as input, got ",
                name, " of ", part->dim(), " and input of ", self.dim(), " dimensions");
    for (int64_t i = 0; part && i < self.dim(); ++i) {
      TENON_CHECK(i == d || part->size(i) == self.size(i),
                  "[diff] diff expects the shape of tensor "
                  "to prepend or append to match that of input except along the differencing "
                  "dimension; input.size(",
                  i, ") = ", self.size(i), ", but got tensor.size(", i, ") = ", part->size(i));
    }
  }
  if (n == 0) return self.clone();
  if (prepend) parts.push_back(*prepend);
  parts.push_back(self);
  if (append) parts.push_back(*append);
  Tensor out = parts.size() > 1 ? cat(parts, d) : self;
  // Of as many elements nothing is left.
  const int64_t times = std::min(n, out.size(d));
  for (int64_t i = 0; i < times; ++i) {
    const int64_t left = std::max<int64_t>(out.size(d) - 1, 0);
    const Tensor after = out.narrow(d, out.size(d) - left, left), before = out.narrow(d, 0, left);
    out = out.scalar_type() == kBool ? logical_xor(after, before) : after - before;
  }
  return out;
}

}  // namespace tenon
